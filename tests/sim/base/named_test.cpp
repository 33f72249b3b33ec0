// SPDX-License-Identifier: Apache-2.0
#include "sim/base/open_list.hpp"
#include "tests/support/catch.hpp"

#include <vector>

using namespace nudge;

TEST_CASE("a name that no item has is our bug in every build, never a walk past the end") {
  struct Item {
    std::string name;
    int value;
  };
  const std::vector<Item> items = {{"a", 1}, {"b", 2}};
  CHECK(place_named(items, "b") == 1);
  CHECK(named(items, "b").value == 2);
  CHECK_THROWS_AS(place_named(items, "c"), ContractViolation);
  CHECK_THROWS_AS(named(std::vector<Item>(), "a"), ContractViolation);
  CHECK_THROWS_WITH(named(items, "c"), Catch::Contains("\"c\""));
}
