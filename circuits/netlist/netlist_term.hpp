// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/netlist/netlist_ports.hpp"
#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "circuits/netlist/reduced_matrices.hpp"
#include "circuits/terms/term.hpp"
#include "sim/direct.hpp"

namespace nudge {

/// All of a netlist as one term: the state is what no source sets (NodeCoordinates), z = v/volts, and the force the net current into every
/// column of it,
///     F(z) = −Nᵀ r(P z + Q e)/(siemens · volts),     J = −Nᵀ (∂r/∂v) P/siemens
/// r the currents that leave the nodes (NodalEquations). Conservative are resistors, diodes and current sources, where no controlled source sets
/// a voltage or takes a current from one, or these are balanced (NodeCoordinates::reciprocal):
///     E = Σ σ (½ g v², ∫ I dv, I v)/(siemens · volts²)
/// all else is not: transistors and controlled sources. Local rule of a resistor: ⟨a, ∂F/∂g⟩ = −(w₊ − w₋)(v₊ − v₋)/volts, w = N a, of an energy
/// −½ σ (v₊ − v₋)²; of a source what it moves. It solves itself (Direct), one state per row. Every column of the state has the same
/// capacitance, siemens · τ; where capacitances are given it has Inertia, D = Nᵀ C P/(siemens τ). The noise of its currents, of density S, pushes
/// the columns as white noise of √S/(siemens volts √τ) per √τ between the nodes of every element. A resistor that is a device has the conductance
/// which the device has.
template <class S>
class NetlistTerm final : public Term<S> {
 public:
  /// The equations, whose outputs are the last node of the circuit; maps by parameter, (1, elements).
  NetlistTerm(std::shared_ptr<const NodalEquations> equations, std::shared_ptr<const NodeCoordinates> coordinates,
              NetlistPorts ports, std::vector<const LinearMap<S>*> maps, std::vector<int> nodes);
  ~NetlistTerm() override;

  /// From now on the currents have the noise of this temperature (NetlistPorts::noise_K).
  void set_noise(double temperature_K) { ports_.noise_K = temperature_K; }
  /// Capacitance of a column of the state; of the nodes where each has its own, the mean.
  double capacitance_F() const { return column_capacitance_F(ports_); }

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;

  std::shared_ptr<const NodalEquations> equations_;
  std::shared_ptr<const NodeCoordinates> coordinates_;
  NetlistPorts ports_;
  std::unique_ptr<const ReducedMatrices> matrices_;  ///< where capacitances are given
  std::vector<const LinearMap<S>*> maps_;
  std::vector<int> nodes_;
  std::vector<double> values_, twin_;  ///< of elements; of the twin over those, where there is one
  OperatingPointSolver solver_;        ///< whose ordering those of the systems share
};

}  // namespace nudge
