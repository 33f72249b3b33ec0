// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"
#include "circuits/netlist/netlist_ports.hpp"

namespace nudge {

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

}  // namespace nudge
