// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/read_memory.hpp"

namespace nudge {

/// The outputs of one read among the sensed lines of its array: rows of the drive, `count` lines from `first` on, and one
/// number common to all lines of a row where `common` (reference column), kept as the line after the last.
struct LineBlock {
  Index rows = 0;
  Index first = 0, count = 0;
  Index lines = 0;  ///< of the array
  bool common = false;

  /// Numbers of one read: rows times count, row by row, then the common ones.
  Index numbers() const { return rows * (count + (common ? 1 : 0)); }
  Index memory_lines() const { return lines + (common ? 1 : 0); }
};

/// One step of AR(1) processes of variance 1, x ← ρ x + √(1 − ρ²) N; a line that was not read before begins with N.
/// numbers: N on entry, x on return.
template <class S>
void correlate(double rho, const LineBlock& block, Matrix<S>& states, S* numbers);

/// Ornstein–Uhlenbeck processes of variance 1 over a read of r time constants, exactly: with ρ = e^{−r}
///     x ← ρ x + √(1 − ρ²) N₁,    mean over the read A = a x + b N₁ + c N₂  (x at its start)
///     a = (1 − ρ)/r,   b = a √((1 − ρ)/(1 + ρ)),   a² + b² + c² = 2 (r − 1 + ρ)/r²
/// (b from ⟨A x(end)⟩ = a, c from the variance of the mean). A line that was not read before begins with x = N₀. sums += A.
struct ReadAverage {
  double rho, a, b, c;
  explicit ReadAverage(double r);
};
template <class S>
void average(const ReadAverage& mean, const LineBlock& block, Matrix<S>& states, const S* n0, const S* n1, const S* n2,
             S* sums);

}  // namespace nudge
