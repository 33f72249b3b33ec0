// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

TEST_CASE("the digital matrix takes the factors of a gradient as it takes their sum", "[circuits]") {
  Matrix<double> w(2, 3), x(2, 2), y(2, 3), part(2, 1);
  w << 1, 2, 3, 4, 5, 6;
  x << 1, -2, 3, 4;
  y << 2, 0, -1, 1, 5, 2;
  part << -1, 2;
  DigitalMatrix<double> map(w);
  map.apply_factors({{{0, 3}, 1.0, x, y}, {{1, 1}, 2.0, x, part}}, 0.5);
  Matrix<double> sum = x.transpose() * y;
  sum.col(1) += 2.0 * x.transpose() * part;
  CHECK((map.weights() == w - 0.5 * sum));  // small integers and halves
}

TEST_CASE("the digital matrix takes programs and updates exactly", "[circuits]") {
  Matrix<double> w(2, 3);
  w << 1, 2, 3, 4, 5, 6;
  DigitalMatrix<double> map(w);
  Matrix<double> delta(2, 3);
  delta << 0.1, -0.2, 0.3, -0.4, 0.5, -0.6;
  map.apply_update(delta);
  CHECK((map.weights() == w + delta));
  map.program(w);
  CHECK((map.weights() == w));
  REQUIRE(map.state().size() == 1);
  (*map.state()[0].values)(1, 2) = 9;
  CHECK(map.weights()(1, 2) == 9);
}
