// SPDX-License-Identifier: Apache-2.0
#include "sim/base/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>

#include "sim/base/errors.hpp"

namespace nudge {

double student_t_quantile(double p, int degrees) {
  NUDGE_EXPECT(p > 0 && p < 1 && degrees >= 1);
  return boost::math::quantile(boost::math::students_t(static_cast<double>(degrees)), p);
}

}  // namespace nudge
