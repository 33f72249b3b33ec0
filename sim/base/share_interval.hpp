// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace nudge {

/// Both ends of an interval; NaN where there is none.
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
};

/// The 95 % interval of a probability of which `share` of n independent trials came out,
///     (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n),  z = 1.96
/// (Wilson, J. Am. Stat. Assoc. 22 (1927) 209), within [0, 1] for every share. NaN for a share outside [0, 1] and for n < 1.
Interval share_interval(double share, double n);

/// Two-sided p value of the sign test: how often fair coins give at least as uneven a split of won + lost trials; 1 without one.
double sign_test(int won, int lost);

}  // namespace nudge
