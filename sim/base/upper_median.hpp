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

}  // namespace nudge
