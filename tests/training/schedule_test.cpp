// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/learning/optimizer.hpp"

#include <cmath>

#include "sim/base/errors.hpp"

using nudge::learning_rate_at;
using nudge::Schedule;

TEST_CASE("warm-up rises linearly, the cosine falls to its final fraction") {
  const Schedule schedule{"cosine", 2.0, 110, 10, 0.5};
  CHECK(learning_rate_at(schedule, 0) == Approx(0.2));
  CHECK(learning_rate_at(schedule, 4) == Approx(1.0));
  CHECK(learning_rate_at(schedule, 9) == Approx(2.0));
  CHECK(learning_rate_at(schedule, 10) == Approx(2.0));
  CHECK(learning_rate_at(schedule, 60) == Approx(1.5));                         // half way: the mean of 2 and 1
  CHECK(learning_rate_at(schedule, 35) == Approx(1.5 + 0.5 * std::sqrt(0.5)));  // a quarter: cos(π/4)
  CHECK(learning_rate_at(schedule, 110) == Approx(1.0));
  CHECK(learning_rate_at(schedule, 10000) == Approx(1.0));
  for (std::uint64_t k = 10; k < 110; ++k) CHECK(learning_rate_at(schedule, k) > learning_rate_at(schedule, k + 1));
}

TEST_CASE("constant schedule, no warm-up, and a warm-up longer than the run") {
  CHECK(learning_rate_at({"constant", 3.0, 10, 0, 0.0}, 0) == 3.0);
  CHECK(learning_rate_at({"constant", 3.0, 10, 4, 0.0}, 1) == 1.5);
  CHECK(learning_rate_at({"constant", 3.0, 10, 4, 0.0}, 99) == 3.0);
  CHECK(learning_rate_at({"cosine", 3.0, 10, 0, 0.0}, 0) == 3.0);
  CHECK(learning_rate_at({"cosine", 1.0, 10, 20, 0.0}, 9) == 0.5);
  CHECK(learning_rate_at({"cosine", 1.0, 10, 10, 0.25}, 10) == 0.25);
}

TEST_CASE("schedule errors") {
  CHECK_THROWS_WITH(check(Schedule{"cosin", 1.0, 10, 0, 0.0}), "unknown schedule \"cosin\" (known: constant, cosine)");
  CHECK_THROWS_WITH(check(Schedule{"cosine", -1.0, 10, 0, 0.0}),
                    "schedule: learning rate = -1 (must be >= 0 and finite)");
  CHECK_THROWS_WITH(check(Schedule{"cosine", 1.0, 10, 0, 1.5}),
                    "schedule: final fraction = 1.5 (must be >= 0 and <= 1)");
  CHECK_THROWS_WITH(check(Schedule{"cosine", 1.0, 0, 0, 0.0}), "schedule: steps = 0 (must be at least 1)");
  CHECK_NOTHROW(check(Schedule{}));
}
