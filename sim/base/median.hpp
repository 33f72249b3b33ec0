// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

/// The value with half of the others below it, of an even number the upper one of the middle two: one of the values. Needs some, none NaN.
inline double upper_median(std::vector<double> values) {
  NUDGE_EXPECT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The same, of an even number the mean of the middle two.
inline double median(std::vector<double> values) {
  NUDGE_EXPECT(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

}  // namespace nudge
