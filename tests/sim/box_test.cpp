// SPDX-License-Identifier: Apache-2.0
// One projected step of a box beside its three parts.
#include <cmath>
#include <limits>

#include "sim/box.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("box: a step is hold, update and project", "[box]") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Box<double> box({{{0, 3}, 0.0, 1.0}, {{3, 2}, -kInf, 0.0}, {{7, 2}, 0.0, kInf}});
  Matrix<double> start = random_matrix<double>(4, 9, 1, 1.5), force = random_matrix<double>(4, 9, 2, 1.5);
  box.project(start, {0, 9});  // many rest on a bound
  start(0, 1) = 1.7;           // and one state that nobody has projected yet
  // Columns that are bounded throughout, in part, not at all, and all of them.
  for (const Columns within :
       {Columns{0, 5}, Columns{1, 3}, Columns{2, 6}, Columns{5, 2}, Columns{7, 2}, Columns{0, 9}}) {
    CAPTURE(within.begin, within.count);
    Matrix<double> z = start, f = force, expected = start, held = force;
    box.hold(expected, held, held, within);
    expected.middleCols(within.begin, within.count) += 0.7 * held.middleCols(within.begin, within.count);
    box.project(expected, within);
    box.step(z, f, 0.7, within);
    CHECK(relative_error(z, expected) < 1e-15);  // a product and a sum, fused or not
    CHECK(f == held);
    CHECK((within.begin == 5) == (held == force));
  }
  Matrix<double> z = start, f = force;
  f(1, 0) = std::numeric_limits<double>::quiet_NaN();
  box.step(z, f, 0.7, {0, 9});
  CHECK(std::isnan(z(1, 0)));
}
