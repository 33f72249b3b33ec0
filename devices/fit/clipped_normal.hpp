// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace nudge {

/// Where a pulse takes a device whose noise is known, as a normal distribution.
struct PulseEnd {
  double mean = 0, variance = 0;
};

/// Mean and variance of min(max(m + s ξ, lower), upper), ξ standard normal: what noise of a pulse leaves of a device whose bounds stop it
/// (censored normal; Tobin, Econometrica 26:24 (1958)).
inline PulseEnd clipped_normal(double m, double s, double lower, double upper) {
  constexpr double nowhere_near = 6;  // deviations: a tail of 1e-9
  if (std::min(upper - m, m - lower) > nowhere_near * s) return {m, s * s};
  if (!(s > 0)) return {std::clamp(m, lower, upper), 0};
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const double a = (lower - m) / s, b = (upper - m) / s;
  const double at_a = below(a), at_b = below(-b), phi_a = density(a), phi_b = density(b);
  const double first = a * at_a + b * at_b + phi_a - phi_b;
  const double second = a * a * at_a + b * b * at_b + (1 - at_a - at_b) + a * phi_a - b * phi_b;
  return {m + s * first, s * s * std::max(second - first * first, 0.0)};
}

}  // namespace nudge
