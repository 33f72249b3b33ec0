// SPDX-License-Identifier: Apache-2.0
#include "sim/base/parallel.hpp"
#include "tests/support/catch.hpp"

#include <atomic>
#include <stdexcept>

using namespace nudge;

TEST_CASE("threads run beside the caller, all end, and the first exception comes through") {
  std::atomic<int> sum = 0, ended = 0;
  std::atomic<bool> go = false;
  run_side_by_side(
      3,
      [&](int i) {
        while (!go) wait_a_moment();  // ends only because the caller runs at the same time
        sum += i;
      },
      [&] { go = true; });
  CHECK(sum == 3);
  const auto work = [&](int i) {
    ++ended;
    if (i == 1) throw std::runtime_error("work");
  };
  CHECK_THROWS_WITH(run_side_by_side(2, work, [] {}), "work");
  CHECK_THROWS_WITH(run_side_by_side(2, work, [] { throw std::runtime_error("here"); }), "here");
  CHECK(ended == 4);
}
