// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"

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

}  // namespace nudge
