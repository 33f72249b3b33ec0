// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/models/netlist.hpp"

namespace nudge {

/// What a transient of the transformer needs besides its weights.
struct TransformerNetlist {
  Matrix<double> input;  ///< x (T, C), V, clamped
  Matrix<double> start;  ///< z at t = 0, (T, n·C), V
  double time_constant_s = 100e-9;
  double capacitance_F = 100e-15;  ///< of every state node
  double stop_s = 2e-6;
  double print_step_s = 1e-9;
};

/// A network of the kind transformer as an ngspice transient: one capacitor per element of the state, charged by a behavioural
/// source with C/τ · F; norms, projections, rotations, the causal softmax and relu2 are ideal dependent voltage sources, one volt
/// per unit. Weights are those that a noise-free read of the maps uses. The control block writes time and the state's voltages,
/// row-major, to `data_file` (wrdata: columns of time and value in turn; wr_singlescale). UserError for activation = gelu:
/// ngspice has no error function.
std::string transformer_netlist(const Network<double>& network, const TransformerNetlist& spec,
                                const std::string& data_file);

/// That of an example, from the start of a free phase, (20 + 4 n) τ long; terms: T (n C (C + 1) + n/2 (5 C² + 2 C M) +
/// H T n/2 (2 C/H + 2)). UserError for curved devices.
NetlistExport transformer_export();

}  // namespace nudge
