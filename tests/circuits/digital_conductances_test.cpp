// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "tests/support/numerics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

template <class S>
void check_sums(const LinearMap<S>& map) {
  REQUIRE(map.traits().sums != nullptr);
  // 37 and 53 numbers of either sign, added in another order: 53 roundings of partial sums below 53 times the largest.
  const S tolerance = 53 * 53 * std::numeric_limits<S>::epsilon() * map.weights().cwiseAbs().maxCoeff();
  const Matrix<S> columns = map.weights().colwise().sum(), rows = map.weights().rowwise().sum().transpose();
  CHECK((map.traits().sums->of_columns - columns).cwiseAbs().maxCoeff() <= tolerance);
  CHECK((map.traits().sums->of_rows - rows).cwiseAbs().maxCoeff() <= tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("conductances stop at 0, and their sums are those of what they became", "[circuits]", float,
                   double) {
  using S = TestType;
  const Matrix<S> start = random_matrix<S>(37, 53, 1).cwiseAbs(), change = random_matrix<S>(37, 53, 2);
  DigitalConductances<S> map(start);
  check_sums<S>(map);
  map.apply_update(change);
  CHECK(map.weights() == (start + change).cwiseMax(S(0)));
  CHECK((map.weights().array() == S(0)).any());
  CHECK((map.weights().array() > S(0)).any());
  check_sums<S>(map);
  const Matrix<S> before = map.weights();
  map.apply({.direction = &change, .scale = S(-0.25)});
  // Scaled and added in one rounding or in two.
  CHECK((map.weights() - (before - S(0.25) * change).cwiseMax(S(0))).cwiseAbs().maxCoeff() <=
        8 * std::numeric_limits<S>::epsilon());
  check_sums<S>(map);
  const Matrix<S> stepped = map.weights();
  const std::vector<FactorPair<S>> factors{{{0, 53}, S(1), random_matrix<S>(2, 37, 3), random_matrix<S>(2, 53, 4)},
                                           {{7, 9}, S(-0.5), random_matrix<S>(1, 37, 5), random_matrix<S>(1, 9, 6)}};
  map.apply_factors(factors, S(0.3));
  Matrix<S> sum = stepped - S(0.3) * factors[0].x.transpose() * factors[0].y;
  sum.middleCols(7, 9) += S(0.15) * factors[1].x.transpose() * factors[1].y;
  // Four terms of some units, each rounded and scaled once.
  CHECK((map.weights() - sum.cwiseMax(S(0))).cwiseAbs().maxCoeff() <=
        4 * 2 * sum.cwiseAbs().maxCoeff() * std::numeric_limits<S>::epsilon());
  CHECK((map.weights().array() == S(0)).count() > (stepped.array() == S(0)).count());
  check_sums<S>(map);
  map.program(-start);  // as it is
  CHECK(map.weights() == -start);
  check_sums<S>(map);
  *map.state()[0].values = start;
  map.state_restored();
  check_sums<S>(map);
  Matrix<S> broken = change;
  broken(3, 4) = std::numeric_limits<S>::quiet_NaN();
  map.apply_update(broken);
  CHECK(std::isnan(map.weights()(3, 4)));
  CHECK(std::isnan(map.traits().sums->of_columns(0, 4)));
}
