// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/wires/wire_spec.hpp"
#include "devices/current_curve.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// Node voltages of a resistive crossbar by lines: rows A V = G∘U + b, columns C U = G∘V (b from the drivers, both
/// tridiagonal per wire). V is eliminated and the symmetric positive definite rest
///     (C − G A⁻¹ G) U = G A⁻¹ b
/// is solved by conjugate gradients preconditioned with C⁻¹: every iteration is one tridiagonal sweep over all rows and one
/// over all columns. Converges in a handful of iterations for arrays that are worth building, and for all others too.
class LineSolver {
 public:
  /// Takes conductance_S (N, M), finite and, unless any is allowed, ≥ 0. UserError otherwise and for an invalid spec. Open
  /// lines need wires or terminals with resistance and devices that conduct; their terminals' voltages are not read.
  LineSolver(const Matrix<double>& conductance_S, const WireSpec& spec, DeviceSign sign = DeviceSign::positive,
             const OpenLines& open = {});

  /// Currents of all columns for the row voltages v (1, N), to a relative residual of `tolerance`.
  WireSolution solve(const Matrix<double>& volts, double tolerance = 1e-10, int max_iterations = 2000) const;

  /// Voltages across all devices (N, M) for the row voltages v (1, N): row node minus column node. NumericalFailure if
  /// the iteration does not reach the tolerance.
  Matrix<double> device_voltages(const Matrix<double>& volts, double tolerance = 1e-10,
                                 int max_iterations = 2000) const;
  /// Voltages across all devices (N, M) if the terminals of the columns are at column_volts (1, M) instead of 0 V. The
  /// resistance of the sense amplifiers lies before the terminals. The devices see these voltages in a read from the other
  /// side. NumericalFailure as above.
  Matrix<double> device_voltages(const Matrix<double>& row_volts, const Matrix<double>& column_volts, double tolerance,
                                 int max_iterations = 2000) const;

  /// Node voltages for currents that are pushed into the nodes, all terminals at 0 V. rows (M, N): row wires in their
  /// own layout, position along the wire first; columns (N, M). An ideal wire with an ideal terminal stays at 0.
  struct Nodes {
    LineSet::Array rows, columns;
    int iterations = 0;
    bool converged = true;
  };
  Nodes solve_nodes(const LineSet::Array& into_rows, const LineSet::Array& into_columns, double tolerance = 1e-10,
                    int max_iterations = 2000) const;

  /// Current from the drivers into the nodes of the row wires (M, N), all nodes at 0 V; empty where rows are ideal.
  LineSet::Array driven(const Matrix<double>& volts) const;
  /// Currents (1, M) into the terminals of columns that are not ideal, at these voltages of their nodes (N, M).
  Matrix<double> sensed(const LineSet::Array& columns) const;

  /// Matrix M (N, M) in siemens with currents = v M, one solve per row in parallel; it tells a WireWatch its progress.
  /// Reading the same array backward through the same line ends gives Mᵀ exactly (reciprocity).
  Matrix<double> effective_matrix(double tolerance = 1e-10, int threads = 0) const;

 private:
  using Array = LineSet::Array;
  void add_wires(const OpenLines& open);
  /// Current from the terminals of the columns into their nodes (N, M), all nodes at 0 V.
  Array driven_columns(const Matrix<double>& volts) const;
  Array eliminate_rows(const Array& column_layout, const Array* driven) const;
  /// Solves (C − G A⁻¹ G) u = b by preconditioned conjugate gradients; b and u (N, M). Sets iterations, residual, converged.
  Array reduced_solve(const Array& b, double tolerance, int max_iterations, WireSolution& outcome) const;
  WireSolution ideal_columns(const Matrix<double>& volts) const;

  WireSpec spec_;
  Array conductance_;                 ///< (N, M)
  Array transposed_;                  ///< (M, N)
  std::unique_ptr<LineSet> rows_;     ///< null: ideal rows
  std::unique_ptr<LineSet> columns_;  ///< null: ideal columns
  LineSet::Ends driver_, sense_;      ///< conductance of the end segment of every row and column; 0: open
};

/// Current law of a cell of small-signal conductance G: a device of this curve, or a straight one behind a selector.
struct CellLaw {
  CellLaw(const CurrentCurve& its_curve, const SelectorSpec& its_selector) : curve(its_curve), selector(its_selector) {}
  CurrentCurve curve;
  SelectorSpec selector;

  double current(double g, double v) const {
    return selector.any() ? selector.cell_current(g, v) : g * curve.current(v);
  }
  double slope(double g, double v) const { return selector.any() ? selector.cell_slope(g, v) : g * curve.slope(v); }
};

/// Solution of a crossbar of devices with a curved I–V characteristic behind wires with resistance, by Newton's method on the
/// node voltages. Every step is a linear crossbar of the slopes dI/dV, of the same pattern, solved by LineSolver. Wires are
/// straight, so each step leaves known what they carry to every device: that less the device's own current is its imbalance,
/// whatever the wires' resistance. Steps are halved while they do not lower it. Converges quadratically.
struct NonlinearSolution {
  Matrix<double> currents_A;          ///< (1, M), into the sense amplifiers
  Matrix<double> across_V;            ///< (N, M), voltages across the devices
  Status status = Status::max_steps;  ///< converged: the last step moved no node by more than tolerance · max |volts|;
      ///< stalled: no step lowers the imbalance; diverged: numbers left the finite range
  std::vector<double> steps;  ///< largest change of a node of every Newton step, over max |volts|
};

class NonlinearSolver {
 public:
  /// Takes conductance_S (N, M): small-signal, ≥ 0 and finite. UserError otherwise, for an invalid spec or a negative curve.
  NonlinearSolver(Matrix<double> conductance_S, const CurrentCurve& curve, const WireSpec& wires);
  /// Takes cells behind selectors, and open lines (LineSolver); volts of an open row are not read. A threshold selector,
  /// whose current jumps, has a solution only if no cell comes to its threshold.
  NonlinearSolver(Matrix<double> conductance_S, const CellLaw& law, const WireSpec& wires, const OpenLines& open = {});

  /// Currents of all columns for the row voltages v (1, N).
  NonlinearSolution solve(const Matrix<double>& volts, double tolerance = 1e-10, int max_steps = 100) const;

 private:
  using Array = LineSet::Array;
  struct State {
    Array rows, columns;  ///< node voltages, (M, N) and (N, M)
    Array carried;        ///< (N, M): current that the wires carry to every device
    Array across() const { return rows.transpose() - columns; }
  };
  /// Linear circuit of the slopes at a state.
  LineSolver tangent(const Array& slopes) const;
  Array currents_of(const Array& across) const;
  Array slopes_of(const Array& across) const;
  /// State of wires at rest, moved by one whole step.
  State start(const Matrix<double>& volts) const;
  /// Currents into the sense amplifiers.
  Matrix<double> currents(const State& at) const;

  Matrix<double> conductance_;
  CellLaw law_;
  WireSpec wires_;
  OpenLines open_;
};

}  // namespace nudge
