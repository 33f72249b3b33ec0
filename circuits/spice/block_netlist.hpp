// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "circuits/circuit.hpp"
#include "circuits/terms/shared_array.hpp"
#include "devices/current_curve.hpp"

namespace nudge {

/// What a transient of the block needs besides its weights.
struct BlockNetlist {
  Matrix<double> drive;         ///< x_in (T, C), V
  Matrix<double> start;         ///< z at t = 0 (T, C), V
  Matrix<double> nudge;         ///< added to the force (T, C): a nudge −β ∂C/∂z that stands still; empty: none
  CurrentCurve curve = {};      ///< of the devices: a drive x acts as I(x V_r)/(G V_r)
  double read_voltage_V = 0.2;  ///< V_r of that curve
  double time_constant_s = 100e-9;
  double capacitance_F = 100e-15;  ///< of every state node
  double stop_s = 2e-6;
  double print_step_s = 1e-9;
};

/// The founding note's block, one node with one shared array, as an ngspice transient: one capacitor per state z_tc charged by a behavioural source with
/// C/τ · F_tc(z) (plus a nudge); projections, rectifiers and the causal softmax are ideal dependent voltage sources, one volt per unit;
/// behind curved devices every drive passes its curve first. Weights are those of the block's maps. The control block writes time and the T·C node voltages, row-major, to
/// `data_file` (wrdata, columns of time and value in turn). For small blocks: T·C·(4C + M) source terms, T·C² more with a
/// coupling.
std::string block_netlist(const Circuit<double>& block, Index heads, const LinearMap<double>& output,
                          const BlockNetlist& spec, const std::string& data_file);

}  // namespace nudge
