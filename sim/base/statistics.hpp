// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

/// Upper median: the middle value, of an even number the upper of the middle two; always one of the values. Needs at least one, no NaN.
inline double upper_median(std::vector<double> values) {
  NUDGE_EXPECT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Median: the middle value, of an even number the mean of the middle two. Needs at least one, no NaN.
inline double median(std::vector<double> values) {
  NUDGE_EXPECT(!values.empty());
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/// The quantile t(p, degrees) of Student's t (Student, Biometrika 6 (1908) 1); p in (0, 1), degrees ≥ 1.
double student_t_quantile(double p, int degrees);

/// Half of the 95 % interval of the mean of n normal numbers of sample deviation s: t(0.975, n − 1) s/√n; n ≥ 2.
double student_t_half_width(double deviation, int n);

/// Two ends of an interval; NaN if there is none.
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};

/// The 95 % interval of a probability of which `share` of n independent trials came out,
///     (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n),  z = 1.96
/// (Wilson, J. Am. Stat. Assoc. 22 (1927) 209), within [0, 1] for every share. NaN for a share outside [0, 1] and for n < 1.
Interval share_interval(double share, double n);

/// Two-sided p value of the sign test: the probability that won + lost fair coins split at least as unevenly; 1 without a trial.
double sign_test(int won, int lost);

}  // namespace nudge
