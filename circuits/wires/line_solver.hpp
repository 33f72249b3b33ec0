// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/wires/line_set.hpp"

namespace nudge {

/// Conductance of the terminals of `count` lines, g but for those that are open.
LineSet::Ends line_ends(Index count, double g, const std::vector<bool>& open);

/// Node voltages of a resistive crossbar by lines: rows A V = G∘U + b, columns C U = G∘V (b from the drivers, both
/// tridiagonal per wire). V is eliminated and the symmetric positive definite rest
///     (C − G A⁻¹ G) U = G A⁻¹ b
/// is solved by conjugate gradients preconditioned with C⁻¹: every iteration is one tridiagonal sweep over all rows and one
/// over all columns. Converges in a handful of iterations for arrays that are worth building, and for all others too.
class LineSolver {
 public:
  /// conductance_S (N, M) finite and, unless any is allowed, ≥ 0. UserError otherwise and for an invalid spec. Lines that are open need wires
  /// with resistance and devices that conduct; their terminals' voltages are not read.
  LineSolver(const Matrix<double>& conductance_S, const WireSpec& spec, DeviceSign sign = DeviceSign::positive,
             const OpenLines& open = {});

  /// Currents of all columns for the row voltages v (1, N), to a relative residual of `tolerance`.
  WireSolution solve(const Matrix<double>& volts, double tolerance = 1e-10, int max_iterations = 2000) const;

  /// Voltages across all devices (N, M) for the row voltages v (1, N): those of its row node less those of its column node.
  /// NumericalFailure when the iteration does not reach the tolerance.
  Matrix<double> device_voltages(const Matrix<double>& volts, double tolerance = 1e-10,
                                 int max_iterations = 2000) const;
  /// The same with the terminals of the columns at column_volts (1, M) and not at 0 V, behind the resistance of their sense
  /// amplifiers: what the devices see of a read from the other side.
  Matrix<double> device_voltages(const Matrix<double>& row_volts, const Matrix<double>& column_volts, double tolerance,
                                 int max_iterations = 2000) const;

  /// Node voltages for currents that are pushed into the nodes, all terminals at 0 V: rows (M, N) for row wires in their
  /// own layout (position along the wire first), columns (N, M). An ideal wire is a terminal: its nodes stay at 0.
  struct Nodes {
    LineSet::Array rows, columns;
    int iterations = 0;
    bool converged = true;
  };
  Nodes solve_nodes(const LineSet::Array& into_rows, const LineSet::Array& into_columns, double tolerance = 1e-10,
                    int max_iterations = 2000) const;

  /// The matrix M (N, M) in siemens with currents = v M, one solve per row in parallel, told to a WireWatch. Reading the same array backward
  /// through the same line ends gives Mᵀ exactly (reciprocity).
  Matrix<double> effective_matrix(double tolerance = 1e-10, int threads = 0) const;

 private:
  using Array = LineSet::Array;
  void add_wires(const OpenLines& open);
  /// Current from the drivers into the nodes of the row wires (M, N), all nodes at 0 V.
  Array driven(const Matrix<double>& volts) const;
  /// The same from the terminals of the columns into their nodes (N, M).
  Array driven_columns(const Matrix<double>& volts) const;
  Array eliminate_rows(const Array& column_layout, const Array* driven) const;
  /// (C − G A⁻¹ G) u = b by preconditioned conjugate gradients; b and u (N, M). Sets iterations, residual, converged.
  Array reduced_solve(const Array& b, double tolerance, int max_iterations, WireSolution& outcome) const;
  WireSolution ideal_columns(const Matrix<double>& volts) const;

  WireSpec spec_;
  Array conductance_;                 ///< (N, M)
  Array transposed_;                  ///< (M, N)
  std::unique_ptr<LineSet> rows_;     ///< null: ideal row wires
  std::unique_ptr<LineSet> columns_;  ///< null: ideal column wires
  LineSet::Ends driver_, sense_;      ///< conductance of the end segment of every row and column; 0: open
};

}  // namespace nudge
