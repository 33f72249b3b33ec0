// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "circuits/terms/term.hpp"
#include "sim/direct.hpp"

namespace nudge {

/// Elements of a netlist that one row of numbers sets, in the order of the row.
struct ElementRow {
  std::vector<std::size_t> elements;
  double unit = 1;  ///< Element::value, of resistors the conductance, is offset + unit times the number
  double offset = 0;
};

/// What of a netlist is fed, learns, and is read.
struct NetlistPorts {
  std::vector<ElementRow> inputs;   ///< independent sources that the features of a sample set, as many in each row
  std::vector<ElementRow> learned;  ///< by parameter (1, elements): resistors, or independent sources
  std::vector<std::string> output_names;
  double volts = 1;    ///< of a unit of the state
  double tau_s = 1;    ///< unit of time: what tells the conductance of a device from its heat (MapTraits::unit_heat_J)
  double siemens = 1;  ///< conductance whose current at that voltage is the unit of force
  /// Standard deviation of ln g between the resistors that learn and those of a twin of the circuit, in which what holds or drives the
  /// outputs is solved for: free and clamped state as they are built, side by side. 0: one circuit has both, one after the other.
  double twin_mismatch = 0;
  std::uint64_t seed = 0;  ///< of the twin
};

/// Conductance that the number 1 stands for in an array of this heat (MapTraits::unit_heat_J).
inline double device_unit_S(const NetlistPorts& ports, double unit_heat_J) {
  return unit_heat_J / (ports.volts * ports.volts * ports.tau_s);
}

/// All of a netlist as one term: the state is what no source sets (NodeCoordinates), z = v/volts, and the force the net current into every
/// column of it,
///     F(z) = −Nᵀ r(P z + Q e)/(siemens · volts),     J = −Nᵀ (∂r/∂v) P/siemens
/// r the currents that leave the nodes (NodalEquations). Conservative are resistors, diodes and current sources, where no controlled source sets
/// a voltage or takes a current from one, or these are balanced (NodeCoordinates::reciprocal):
///     E = Σ σ (½ g v², ∫ I dv, I v)/(siemens · volts²)
/// all else is not: transistors and controlled sources. Local rule of a resistor: ⟨a, ∂F/∂g⟩ = −(w₊ − w₋)(v₊ − v₋)/volts, w = N a, of an energy
/// −½ σ (v₊ − v₋)²; of a source what it moves. It solves itself (Direct), one state per row. Capacitors carry nothing: every column of the
/// state has the same capacitance, siemens · τ. A resistor that is a device has the conductance which the device has.
template <class S>
class NetlistTerm final : public Term<S> {
 public:
  /// The equations, whose outputs are the last node of the circuit; maps by parameter, (1, elements).
  NetlistTerm(std::shared_ptr<const NodalEquations> equations, std::shared_ptr<const NodeCoordinates> coordinates,
              NetlistPorts ports, std::vector<const LinearMap<S>*> maps, std::vector<int> nodes);
  ~NetlistTerm() override;

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  std::uint32_t kinds(Part part) const;

  std::shared_ptr<const NodalEquations> equations_;
  std::shared_ptr<const NodeCoordinates> coordinates_;
  NetlistPorts ports_;
  std::vector<const LinearMap<S>*> maps_;
  std::vector<int> nodes_;
  std::vector<double> values_, twin_;  ///< of elements; of the twin over those, where there is one
  OperatingPointSolver solver_;        ///< whose ordering those of the systems share
};

}  // namespace nudge
