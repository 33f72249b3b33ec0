// SPDX-License-Identifier: Apache-2.0
#include "sim/config/suggest.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("edit distance counts insertions, deletions, substitutions and swaps, ignoring case") {
  CHECK(nudge::edit_distance("", "") == 0);
  CHECK(nudge::edit_distance("", "abc") == 3);
  CHECK(nudge::edit_distance("steps", "steps") == 0);
  CHECK(nudge::edit_distance("Steps", "sTEPS") == 0);
  CHECK(nudge::edit_distance("kitten", "sitting") == 3);
  CHECK(nudge::edit_distance("tolernce", "tolerance") == 1);
  CHECK(nudge::edit_distance("setps", "steps") == 1);  // one swap
  CHECK(nudge::edit_distance("ca", "abc") == 3);       // the restricted distance: no edit inside a swap
}

TEST_CASE("the nearest name is within a third of the length") {
  const std::vector<std::string> names = {"euler", "rk4", "dopri5", "anderson", "newton_gmres"};
  CHECK(nudge::nearest("euller", names) == "euler");
  CHECK(nudge::nearest("Rk5", names) == "rk4");
  CHECK(nudge::nearest("andersen", names) == "anderson");
  CHECK(nudge::nearest("broyden", names).empty());
  CHECK(nudge::nearest("x", names).empty());
  CHECK(nudge::nearest("anything", {}).empty());
}

TEST_CASE("a hint suggests, or lists what exists") {
  CHECK(nudge::did_you_mean("eulr", {"euler", "rk4"}) == "did you mean euler?");
  CHECK(nudge::did_you_mean("verlet", {"euler", "rk4"}) == "known: euler, rk4");
  CHECK(nudge::did_you_mean("reram", {"ecram", "reram_es", "reram_array_om"}) ==
        "did you mean one of reram_es, reram_array_om?");
}
