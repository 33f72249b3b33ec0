// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace nudge {

double student_t_quantile(double p, int degrees) {
  NUDGE_EXPECT(p > 0 && p < 1 && degrees >= 1);
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), p);
}

double student_t_half_width(double deviation, int n) {
  return student_t_quantile(0.975, n - 1) * deviation / std::sqrt(static_cast<double>(n));
}

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
