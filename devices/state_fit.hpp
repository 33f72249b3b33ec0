// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Polynomial Σ c_k rᵏ; 0 without coefficients.
double polynomial(const std::vector<double>& coefficients, double r);

/// A published fit of a dimensionless quantity over the state r = g/g_max, as the list
///
///     [a, b, lowest, highest]                        clip(a ln r + b, lowest, highest)
///     [a, b, lowest, highest, knee, q0, q1, ...]     the same below r = knee, q0 + q1 r + q2 r² + ... from there on
///
/// the two forms in which the statistics of phase-change memory are published (notes of the presets pcm and hermes_*).
struct StateFit {
  std::vector<double> numbers = {};

  bool given() const { return !numbers.empty(); }
  /// r is taken at least 1e-7, as in the sources' programs.
  double at(double r) const;
  /// What is wrong with the list, or an empty text.
  const char* problem() const;
};

}  // namespace nudge
