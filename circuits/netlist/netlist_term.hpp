// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/netlist/device_reads.hpp"
#include "circuits/netlist/netlist_ports.hpp"
#include "circuits/terms/term.hpp"
#include "netlist/node_coordinates.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/reduced_matrices.hpp"
#include "sim/direct.hpp"

namespace nudge {

/// All of a netlist as one term. The state is the voltages that no source sets (NodeCoordinates), z = v/volts. The force is the net
/// current into every column of the state,
///     F(z) = −Nᵀ r(P z + Q e)/(siemens · volts),     J = −Nᵀ (∂r/∂v) P/siemens
/// with r the currents that leave the nodes (NodalEquations). Resistors, diodes and current sources are conservative if no controlled
/// source sets a voltage or takes a current from one, or if these are balanced (NodeCoordinates::reciprocal):
///     E = Σ σ (½ g v², ∫ I dv, I v)/(siemens · volts²)
/// Transistors and controlled sources are not conservative.
///
/// Local rule of a resistor: ⟨a, ∂F/∂g⟩ = −(w₊ − w₋)(v₊ − v₋)/volts, w = N a, from an energy −½ σ (v₊ − v₋)². The rule of a source is
/// its effect on the force. The term solves itself (Direct), one state per row. Every column of the state has the same capacitance,
/// siemens · τ. Given capacitances make Inertia, D = Nᵀ C P/(siemens τ). Current noise of density S pushes the columns between the
/// nodes of every element: white noise of √S/(siemens volts √τ) per √τ. A resistor that is a device has the device's conductance.
/// Its fresh noise is the noise of a read. A step of Euler's method is a read, with the current δg ∂I/∂g. A direct solution is a read that
/// lasts reads.time, with g + δg.
template <class S>
class NetlistTerm final : public Term<S> {
 public:
  /// Makes the term. The outputs of the equations are the last node of the circuit; maps by parameter, (1, elements).
  NetlistTerm(std::shared_ptr<const NodalEquations> equations, std::shared_ptr<const NodeCoordinates> coordinates,
              NetlistPorts ports, std::vector<const LinearMap<S>*> maps, std::vector<int> nodes);
  ~NetlistTerm() override;

  /// Gives the currents, from now on, the noise of this temperature (NetlistPorts::noise_K).
  void set_noise(double temperature_K) { ports_.noise_K = temperature_K; }
  /// Gives the reads of its devices, memristors and resistors that a map of devices holds, their fresh noise from now on (DeviceReads).
  void set_read_noise(const DeviceSpec& device) { reads_ = DeviceReads(equations_->netlist(), ports_.learned, device); }
  /// Capacitance of a column of the state; if each node has its own, the mean over nodes.
  double capacitance_F() const { return column_capacitance_F(ports_); }

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;

  std::shared_ptr<const NodalEquations> equations_;
  std::shared_ptr<const NodeCoordinates> coordinates_;
  NetlistPorts ports_;
  std::unique_ptr<const ReducedMatrices> matrices_;  ///< only with given capacitances
  std::vector<const LinearMap<S>*> maps_;
  std::vector<int> nodes_;
  DeviceReads reads_;
  std::vector<double> values_, twin_;  ///< values of elements; factors of the twin over them, if there is one
  OperatingPointSolver solver_;        ///< solver whose ordering the systems share
};

}  // namespace nudge
