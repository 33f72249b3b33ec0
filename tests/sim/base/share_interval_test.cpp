// SPDX-License-Identifier: Apache-2.0
#include "sim/base/statistics.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace nudge;

TEST_CASE("the interval of a share is Wilson's, as published") {
  // Newcombe, Statist. Med. 17 (1998) 857, table I, method 3; printed with four decimals.
  const auto is = [](double right, double n, double low, double high) {
    const Interval found = share_interval(right / n, n);
    CHECK(found.low == Approx(low).margin(5.1e-5));
    CHECK(found.high == Approx(high).margin(5.1e-5));
  };
  is(81, 263, 0.2553, 0.3662);
  is(15, 148, 0.0624, 0.1605);
  is(0, 20, 0.0000, 0.1611);
  is(1, 29, 0.0061, 0.1718);
  CHECK(share_interval(1, 20).high == 1);
  CHECK(std::isnan(share_interval(std::nan(""), 20).low));
  CHECK(std::isnan(share_interval(0.5, 0).high));
  CHECK(std::isnan(share_interval(1.5, 20).high));
}

TEST_CASE("the sign test counts the splits of fair coins") {
  CHECK(sign_test(5, 0) == Approx(2.0 / 32));
  CHECK(sign_test(0, 5) == Approx(2.0 / 32));
  CHECK(sign_test(1, 4) == Approx(2 * (1 + 5) / 32.0));
  CHECK(sign_test(3, 3) == 1);
  CHECK(sign_test(0, 0) == 1);
}
