// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "circuits/netlist/transient.hpp"

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

/// The phases of a circuit that is clocked and read before it has settled, as circuits that compare a free with a clamped state do it (Dillavou
/// et al., PRApplied 18 (2022) 014040): inputs come on over empty capacitances, the free state is read `delay_s` later, and at the end of its
/// period `clock_s` the outputs are clamped or driven, which is read `delay_s` after that. What is read of a mode of rate λ = G/C is
///     free:     v∞ (1 − e^{−λ t_d})          clamped:     v_c∞ + (v∞ (1 − e^{−λ t_c}) − v_c∞) e^{−λ_c t_d}
/// One object per thread; a state per row.
class LateReads {
 public:
  /// The clock is at least the delay.
  LateReads(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices, double delay_s,
            double clock_s, std::size_t rows);

  /// z (columns, in V) as it is read: with `actions` from the end of the row's free phase on, without them that. Status: stalled where no
  /// state or step is found; z is then as it was.
  Status read(std::size_t row, const std::vector<double>& values, const std::vector<OutputAction>& actions, double* z);

  /// Of one phase.
  double period_s() const { return clock_s_; }

 private:
  const NodeCoordinates* at_;
  Transient transient_;
  double delay_s_, clock_s_;
  std::vector<std::vector<double>> ends_;  ///< of the free phases: voltages of the nodes, by row
};

}  // namespace nudge
