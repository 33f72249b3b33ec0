// SPDX-License-Identifier: Apache-2.0
#include "circuits/digital_matrix.hpp"

#include <catch2/catch.hpp>

using namespace nudge;

TEST_CASE("the digital matrix takes programs and updates exactly", "[circuits]") {
  Matrix<double> w(2, 3);
  w << 1, 2, 3, 4, 5, 6;
  DigitalMatrix<double> map(w);
  Matrix<double> delta(2, 3);
  delta << 0.1, -0.2, 0.3, -0.4, 0.5, -0.6;
  map.apply_update(delta, 0);
  CHECK((map.weights() == w + delta));
  map.program(w);
  CHECK((map.weights() == w));
  REQUIRE(map.state().size() == 1);
  (*map.state()[0].values)(1, 2) = 9;
  CHECK(map.weights()(1, 2) == 9);
}
