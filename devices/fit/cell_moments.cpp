// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/cell_moments.hpp"

#include <cmath>

namespace nudge {

Moments moments_of(const std::vector<double>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (const double v : x) m.mean += v / n;
  double second = 0;
  double fourth = 0;
  for (const double v : x) {
    const double d = (v - m.mean) * (v - m.mean);
    second += d / n;
    fourth += d * d / n;
    m.absolute += std::sqrt(d) / n;
  }
  m.sd = std::sqrt(second);
  if (second > 0) m.kurtosis = fourth / (second * second);
  for (const double v : x) m.tail += std::abs(v - m.mean) > 4 * m.sd ? 1 / n : 0;
  return m;
}

}  // namespace nudge
