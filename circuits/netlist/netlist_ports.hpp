// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "circuits/linear_map.hpp"
#include "circuits/netlist/nodal_equations.hpp"
#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"

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
  /// Capacitances of the nodes to ground, beside the capacitors that are drawn; none: every column of the state has siemens · tau_s, and
  /// capacitors that are drawn carry nothing.
  std::vector<double> node_capacitance_F = {};
  /// When a phase is read after its switches have closed, and how long it lasts, with these capacitances (LateReads); 0: when it has settled.
  double delay_s = 0, clock_s = 0;
  double noise_K = 0;  ///< temperature of the noise of currents while the circuit moves (current_noise.hpp); 0: none
  double flicker_slowest_s = 1;  ///< longest time constant of their 1/f noise
};

/// Conductance that the number 1 stands for in an array of this heat (MapTraits::unit_heat_J).
inline double device_unit_S(const NetlistPorts& ports, double unit_heat_J) {
  return unit_heat_J / (ports.volts * ports.volts * ports.tau_s);
}

/// Of a column of the state; of nodes where each has its own, the mean.
double column_capacitance_F(const NetlistPorts& ports);

/// Factors of the values of the twin's elements over those of the circuit, a pure function of the seed; none where there is no twin.
std::vector<double> twin_factors(const NodalEquations& equations, const NetlistPorts& ports);

/// NodalEquations::values of every row of a state: as they are drawn, but for what samples and numbers that learn set.
template <class S>
class ElementValues {
 public:
  /// The ports must outlive it.
  ElementValues(const NetlistPorts& ports, const std::vector<double>& drawn, Index rows)
      : ports_(&ports), rows_(static_cast<std::size_t>(rows), drawn) {}

  void bind(const Matrix<S>& input, const std::vector<const LinearMap<S>*>& maps) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const ElementRow& in : ports_->inputs) set(in, input, static_cast<Index>(row), rows_[row]);
      for (std::size_t p = 0; p < maps.size(); ++p) set(ports_->learned[p], maps[p]->weights(), 0, rows_[row]);
    }
  }

  std::size_t rows() const { return rows_.size(); }
  /// Of a row, and of copies of all rows one below the other.
  const std::vector<double>& of(Index row) const { return rows_[static_cast<std::size_t>(row) % rows_.size()]; }

 private:
  static void set(const ElementRow& of, const Matrix<S>& numbers, Index row, std::vector<double>& values) {
    for (std::size_t i = 0; i < of.elements.size(); ++i)
      values[of.elements[i]] = of.offset + of.unit * static_cast<double>(numbers(row, static_cast<Index>(i)));
  }

  const NetlistPorts* ports_;
  std::vector<std::vector<double>> rows_;
};

/// What every row of a state gives the numbers of a netlist that learn, on its way into a sink.
template <class S>
class RowSlopes {
 public:
  /// The ports' rows must outlive it.
  explicit RowSlopes(const std::vector<ElementRow>& learned) : learned_(&learned), rows_(learned.size()) {}

  void start(Index rows) {
    for (std::size_t p = 0; p < rows_.size(); ++p)
      rows_[p].resize(rows, static_cast<Index>((*learned_)[p].elements.size()));
    ones_.setOnes(rows, 1);
  }
  /// −slope(element) per `unit` of every number that learns.
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
