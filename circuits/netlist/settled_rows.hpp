// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/operating_point.hpp"

namespace nudge {

/// States of a netlist that are solved for side by side, in the coordinates of a term (NodeCoordinates, volts).
class SettledRows {
 public:
  /// The coordinates must outlive it.
  SettledRows(const OperatingPointSolver& solver, const NodeCoordinates& at, std::size_t rows);

  struct Row {
    std::vector<double> values;         ///< of elements
    std::vector<OutputAction> actions;  ///< one per output, or none
    std::vector<double> state;          ///< where it starts, and what it settles to
    OperatingPoint found;
  };
  Row& operator[](std::size_t row) { return rows_[row]; }

  /// States that are not found stay as they were.
  void solve();

  OperatingPointSolver& solver() { return solver_; }

 private:
  OperatingPointSolver solver_;
  const NodeCoordinates* at_;
  std::vector<Row> rows_;
  std::vector<std::vector<double>> unknowns_;
  std::vector<OperatingPointSolver::Request> requests_;
};

}  // namespace nudge
