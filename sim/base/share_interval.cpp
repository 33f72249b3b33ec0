// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace nudge {

Interval share_interval(double share, double n) {
  if (!(share >= 0 && share <= 1 && n >= 1)) return {};
  constexpr double z = 1.959963984540054;  // quantile .975 of the normal distribution
  const double middle = share + z * z / (2 * n), whole = 1 + z * z / n;
  const double half = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, (middle - half) / whole), std::min(1.0, (middle + half) / whole)};
}

double sign_test(int won, int lost) {
  NUDGE_EXPECT(won >= 0 && lost >= 0);
  if (won + lost == 0) return 1;
  const boost::math::binomial coins(won + lost, 0.5);
  return std::min(1.0, 2 * boost::math::cdf(coins, std::min(won, lost)));
}

}  // namespace nudge
