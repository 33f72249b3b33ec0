// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/wires/line_set.hpp"

namespace nudge {

/// Node voltages of a resistive crossbar by lines: rows A V = G∘U + b, columns C U = G∘V (b from the drivers, both
/// tridiagonal per wire). V is eliminated and the symmetric positive definite rest
///     (C − G A⁻¹ G) U = G A⁻¹ b
/// is solved by conjugate gradients preconditioned with C⁻¹: every iteration is one tridiagonal sweep over all rows and one
/// over all columns. Converges in a handful of iterations for arrays that are worth building, and for all others too.
class LineSolver {
 public:
  /// conductance_S (N, M) ≥ 0 and finite. UserError otherwise and for an invalid spec.
  LineSolver(const Matrix<double>& conductance_S, const WireSpec& spec);

  /// Currents of all columns for the row voltages v (1, N), to a relative residual of `tolerance`.
  WireSolution solve(const Matrix<double>& volts, double tolerance = 1e-10, int max_iterations = 2000) const;

  /// The matrix M (N, M) in siemens with currents = v M, one solve per row in parallel. Reading the same array backward
  /// through the same line ends gives Mᵀ exactly (reciprocity).
  Matrix<double> effective_matrix(double tolerance = 1e-10, int threads = 0) const;

 private:
  using Array = LineSet::Array;
  Array eliminate_rows(const Array& column_layout, const Array* driven) const;
  WireSolution ideal_columns(const Matrix<double>& volts) const;

  WireSpec spec_;
  Array conductance_;                 ///< (N, M)
  Array transposed_;                  ///< (M, N)
  std::unique_ptr<LineSet> rows_;     ///< null: ideal row wires
  std::unique_ptr<LineSet> columns_;  ///< null: ideal column wires
  double driver_ = 0, sense_ = 0;     ///< conductance of a connected end segment
};

}  // namespace nudge
