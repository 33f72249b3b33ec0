// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "netlist/node_coordinates.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/transient.hpp"

namespace nudge {

/// States of a netlist that are solved for side by side, in the coordinates of a term (NodeCoordinates, volts).
class SettledRows {
 public:
  /// Makes room for `rows` states. The coordinates must outlive this object.
  SettledRows(const OperatingPointSolver& solver, const NodeCoordinates& at, std::size_t rows);

  struct Row {
    std::vector<double> values;         ///< values of the elements
    std::vector<OutputAction> actions;  ///< one per output, or none
    std::vector<double> state;          ///< start of the solution, and then the settled state
    OperatingPoint found;
  };
  Row& operator[](std::size_t row) { return rows_[row]; }

  /// Solves for all states; states that are not found stay unchanged.
  void solve();

  OperatingPointSolver& solver() { return solver_; }

 private:
  OperatingPointSolver solver_;
  const NodeCoordinates* at_;
  std::vector<Row> rows_;
  std::vector<std::vector<double>> unknowns_;
  std::vector<OperatingPointSolver::Request> requests_;
};

/// Phases of a circuit that is clocked and read before it has settled. Dillavou et al. (PRApplied 18 (2022) 014040) so compare a free with
/// a clamped state. Inputs come on over empty capacitances, and the free state is read `delay_s` later. At the end of its
/// period `clock_s` the outputs are clamped or driven, and the clamped state is read `delay_s` after that. A mode of rate λ = G/C is read as
///     free:     v∞ (1 − e^{−λ t_d})          clamped:     v_c∞ + (v∞ (1 − e^{−λ t_c}) − v_c∞) e^{−λ_c t_d}
/// One object per thread; a state per row.
class LateReads {
 public:
  /// Makes the phases; the clock period is at least the delay.
  LateReads(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices, double delay_s,
            double clock_s, std::size_t rows);

  /// Computes z (columns, in V) as it is read: with `actions` the clamped state, which starts at the end of the row's free
  /// phase; without them the free state. Status: stalled if no state or step is found; z is then as it was.
  Status read(std::size_t row, const std::vector<double>& values, const std::vector<OutputAction>& actions, double* z);

  /// Length of one phase.
  double period_s() const { return clock_s_; }

 private:
  const NodeCoordinates* at_;
  Transient transient_;
  double delay_s_, clock_s_;
  std::vector<std::vector<double>> ends_;  ///< ends of the free phases: voltages of the nodes, by row
};

}  // namespace nudge
