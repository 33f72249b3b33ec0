// SPDX-License-Identifier: Apache-2.0
#include "training/compare/paired.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/student_t.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {

PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline) {
  NUDGE_EXPECT(values.size() == baseline.size());
  std::vector<double> differences;
  for (std::size_t s = 0; s < values.size(); ++s) {
    const double d = values[s] - baseline[s];
    if (std::isfinite(d)) differences.push_back(d);
  }
  const Spread spread = spread_of_finite(differences);
  const auto n = static_cast<int>(differences.size());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  PairedDifference out{n, spread.mean, spread.deviation, -infinity, infinity};
  if (n < 2) return out;
  const double half = student_t_quantile(0.975, n - 1) * spread.deviation / std::sqrt(static_cast<double>(n));
  out.low = spread.mean - half;
  out.high = spread.mean + half;
  return out;
}

}  // namespace nudge
