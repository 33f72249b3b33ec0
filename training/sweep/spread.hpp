// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Mean and standard deviation (n − 1) of the finite values; NaN without one, deviation 0 of a single one.
struct Spread {
  double mean, deviation;
};
Spread spread_of_finite(const std::vector<double>& values);

}  // namespace nudge
