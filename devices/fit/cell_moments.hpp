// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Moments of what cells have changed by.
struct Moments {
  double mean = 0, sd = 0, kurtosis = 3;
  double absolute = 0;  ///< mean distance from the mean
  double tail = 0;      ///< share of them beyond 4 standard deviations
};

Moments moments_of(const std::vector<double>& x);

}  // namespace nudge
