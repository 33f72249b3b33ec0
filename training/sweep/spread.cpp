// SPDX-License-Identifier: Apache-2.0
#include "training/sweep/spread.hpp"

#include <cmath>
#include <limits>

namespace nudge {

Spread spread_of_finite(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (count == 0) return {nan, nan};
  const double mean = sum / count;
  double squares = 0;
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  }
  return {mean, count > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

}  // namespace nudge
