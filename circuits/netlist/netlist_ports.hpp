// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "netlist/nodal_equations.hpp"
#include "netlist/node_coordinates.hpp"
#include "sim/base/matrix.hpp"
#include "sim/direct.hpp"
#include "sim/gradient_sink.hpp"

namespace nudge {

/// Elements of a netlist that one row of numbers sets, in the order of the row.
struct ElementRow {
  std::vector<std::size_t> elements;
  double unit = 1;  ///< Element::value, of resistors the conductance, is offset + unit times the number
  double offset = 0;
  bool devices = false;  ///< true if a map of devices holds the numbers
};

/// Ports of a netlist: the elements that are fed, that learn, and that are read.
struct NetlistPorts {
  std::vector<ElementRow> inputs;   ///< independent sources that the features of a sample set, as many in each row
  std::vector<ElementRow> learned;  ///< learning elements by parameter (1, elements): resistors, or independent sources
  std::vector<std::string> output_names;
  double volts = 1;    ///< voltage of a unit of the state
  double tau_s = 1;    ///< unit of time, which gives the conductance of a device from its heat (MapTraits::unit_heat_J)
  double siemens = 1;  ///< conductance whose current at that voltage is the unit of force
  /// Standard deviation of ln g between the learning resistors and their counterparts in a twin of the circuit. The twin solves
  /// for the state with held or driven outputs: free and clamped state are built side by side. 0: one circuit has both, one
  /// after the other.
  double twin_mismatch = 0;
  std::uint64_t seed = 0;  ///< seed of the twin
  /// Capacitances of the nodes to ground, beside the capacitors that the netlist draws. None: every column of the state has
  /// siemens · tau_s, and drawn capacitors carry nothing.
  std::vector<double> node_capacitance_F = {};
  /// Time from the closing of a phase's switches to its read, and length of a phase, with these capacitances (LateReads); 0:
  /// read when settled.
  double delay_s = 0, clock_s = 0;
  bool state_without_charge = false;  ///< true if some states are currents that charge nothing (with_branch_states)
  double noise_K = 0;  ///< temperature of the noise of currents while the circuit moves (current_noise.hpp); 0: none
  double flicker_slowest_s = 1;  ///< longest time constant of the 1/f noise of currents
};

/// Conductance that the number 1 stands for in an array of this heat (MapTraits::unit_heat_J).
inline double device_unit_S(const NetlistPorts& ports, double unit_heat_J) {
  return unit_heat_J / (ports.volts * ports.volts * ports.tau_s);
}

/// Capacitance of a column of the state; if each node has its own, the mean over nodes.
double column_capacitance_F(const NetlistPorts& ports);

/// Factors that make the values of the twin's elements from the circuit's, a pure function of the seed; none if there is no twin.
std::vector<double> twin_factors(const NodalEquations& equations, const NetlistPorts& ports);

/// Actions on the outputs of a netlist that a load of one row of the state is.
template <class S>
std::vector<OutputAction> output_actions(const DirectLoad<S>& load, Index row, std::size_t outputs,
                                         const NetlistPorts& ports) {
  std::vector<OutputAction> actions(outputs);
  if (load.kind == DirectLoad<S>::Kind::none) return actions;
  const bool held = load.kind == DirectLoad<S>::Kind::held;
  const double unit = held ? ports.volts : ports.volts * ports.siemens;
  for (std::size_t k = 0; k < outputs; ++k) {
    actions[k] = {held, unit * static_cast<double>(load.value(row, static_cast<Index>(k))),
                  static_cast<double>(load.load) * ports.siemens};
  }
  return actions;
}

/// Derivative ∂I/∂g, in V, of the current of a resistor at the voltage across it: that voltage, or of a curved one its law's.
double current_by_siemens(const Element& e, double siemens, double volts);

/// Gradient wᵀ ∂r/∂value of an element, at the voltages v and, of a resistor, its conductance; y = (∂r/∂v)ᵀ w.
double force_slope_A(const NodeCoordinates& at, std::size_t element, double siemens, const std::vector<double>& v,
                     const std::vector<double>& w, const std::vector<double>& y);

/// Slope ∂E/∂value of the energy in W per unit of an element's value, at the voltages v with the currents r that leave the nodes.
double energy_slope_W(const NodeCoordinates& at, std::size_t element, double siemens, const std::vector<double>& v,
                      const std::vector<double>& r);

/// Element values (NodalEquations::values) of every row of a state: as drawn, except those that samples and learning numbers set.
template <class S>
class ElementValues {
 public:
  /// Starts with the drawn values in every row. The ports must outlive this object.
  ElementValues(const NetlistPorts& ports, const std::vector<double>& drawn, Index rows)
      : ports_(&ports), rows_(static_cast<std::size_t>(rows), drawn) {}

  void bind(const Matrix<S>& input, const std::vector<const LinearMap<S>*>& maps) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const ElementRow& in : ports_->inputs) set(in, input, static_cast<Index>(row), rows_[row]);
      for (std::size_t p = 0; p < maps.size(); ++p) set(ports_->learned[p], maps[p]->weights(), 0, rows_[row]);
    }
  }

  std::size_t rows() const { return rows_.size(); }
  /// Values of a row; row numbers go on through copies of all rows one below the other.
  const std::vector<double>& of(Index row) const { return rows_[static_cast<std::size_t>(row) % rows_.size()]; }

 private:
  static void set(const ElementRow& of, const Matrix<S>& numbers, Index row, std::vector<double>& values) {
    for (std::size_t i = 0; i < of.elements.size(); ++i)
      values[of.elements[i]] = of.offset + of.unit * static_cast<double>(numbers(row, static_cast<Index>(i)));
  }

  const NetlistPorts* ports_;
  std::vector<std::vector<double>> rows_;
};

/// Gradients of a netlist's learning numbers from every row of a state, on their way into a sink.
template <class S>
class RowSlopes {
 public:
  /// Makes room for the learning numbers. The ports' rows must outlive this object.
  explicit RowSlopes(const std::vector<ElementRow>& learned) : learned_(&learned), rows_(learned.size()) {}

  void start(Index rows) {
    for (std::size_t p = 0; p < rows_.size(); ++p)
      rows_[p].resize(rows, static_cast<Index>((*learned_)[p].elements.size()));
    ones_.setOnes(rows, 1);
  }
  /// Sets −slope(element) per `unit` for every learning number.
  template <class Slope>
  void fill(Index row, double unit, Slope slope) {
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const ElementRow& learned = (*learned_)[p];
      for (std::size_t i = 0; i < learned.elements.size(); ++i)
        rows_[p](row, static_cast<Index>(i)) = static_cast<S>(-learned.unit / unit * slope(learned.elements[i]));
    }
  }
  void send(S scale, GradientSink<S>& sink) const {
    for (std::size_t p = 0; p < rows_.size(); ++p)
      sink.accumulate(static_cast<int>(p), {0, rows_[p].cols()}, scale, ones_, rows_[p]);
  }

 private:
  const std::vector<ElementRow>* learned_;
  std::vector<Matrix<S>> rows_;
  Matrix<S> ones_;
};

}  // namespace nudge
