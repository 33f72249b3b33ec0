// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/wires/line_set.hpp"
#include "devices/current_curve.hpp"
#include "devices/selector.hpp"
#include "sim/base/status.hpp"

namespace nudge {

/// What a cell of small-signal conductance G lets through: a device of that curve, or a straight one behind a selector.
struct CellLaw {
  CellLaw(const CurrentCurve& its_curve, const SelectorSpec& its_selector) : curve(its_curve), selector(its_selector) {}
  CurrentCurve curve;
  SelectorSpec selector;

  double current(double g, double v) const {
    return selector.any() ? selector.cell_current(g, v) : g * curve.current(v);
  }
  double slope(double g, double v) const { return selector.any() ? selector.cell_slope(g, v) : g * curve.slope(v); }
};

/// A crossbar of devices with a curved I–V characteristic behind wires with resistance: Newton's method on the node
/// voltages. Every step is a linear crossbar of the slopes dI/dV, of the same pattern, solved by LineSolver; steps are
/// halved while they do not lower the current imbalance of the nodes. Converges quadratically.
struct NonlinearSolution {
  Matrix<double> currents_A;          ///< (1, M), into the sense amplifiers
  Matrix<double> across_V;            ///< (N, M), voltages across the devices
  Status status = Status::max_steps;  ///< converged: the last step moved no node by more than tolerance · max |volts|;
      ///< stalled: no step lowers the imbalance; diverged: numbers left the finite range
  std::vector<double> steps;  ///< largest change of a node of every Newton step, over max |volts|
};

class NonlinearSolver {
 public:
  /// conductance_S (N, M): small-signal, ≥ 0 and finite. UserError otherwise, for an invalid spec or a negative curve.
  NonlinearSolver(Matrix<double> conductance_S, const CurrentCurve& curve, const WireSpec& wires);
  /// The same of cells behind selectors, and with open lines (LineSolver); volts of an open row are not read. A threshold selector, whose
  /// current jumps, has a solution only where no cell comes to its threshold.
  NonlinearSolver(Matrix<double> conductance_S, const CellLaw& law, const WireSpec& wires, const OpenLines& open = {});

  /// Currents of all columns for the row voltages v (1, N).
  NonlinearSolution solve(const Matrix<double>& volts, double tolerance = 1e-10, int max_steps = 100) const;

 private:
  using Array = LineSet::Array;
  struct State {
    Array rows, columns;  ///< node voltages, (M, N) and (N, M)
  };
  struct Imbalance {
    Array rows, columns;  ///< current into every node that is not accounted for
    double size = 0;
  };
  Imbalance imbalance(const State& at, const Matrix<double>& volts) const;
  Matrix<double> currents(const State& at) const;

  Matrix<double> conductance_;
  Array currents_of(const Array& across) const;

  CellLaw law_;
  WireSpec wires_;
  OpenLines open_;
  std::unique_ptr<LineSet> row_wires_, column_wires_;  ///< without devices; null: ideal
  LineSet::Ends driver_, sense_;
};

}  // namespace nudge
