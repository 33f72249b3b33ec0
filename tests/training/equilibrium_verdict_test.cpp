// SPDX-License-Identifier: Apache-2.0
// Runs that have nothing to learn from end at once, with exit code 3, and say which key mends it.
#include "tests/support/catch.hpp"
#include "training/train/train_run.hpp"

#include "sim/equilibrium.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;

namespace {

TrainSummary trained(const std::string& hopfield, const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"train.steps=40"};
  settings.insert(settings.end(), more.begin(), more.end());
  const std::string text =
      "precision = 'double'\nthreads = 1\nestimator = 'ep'\nbeta = 1e-3\n[network]\nkind = 'hopfield'\n[hopfield]\n" +
      hopfield +
      "\n[task]\nkind = 'classification'\n[relaxation]\nstep = 0.5\nfree_steps = 40\nnudged_steps = 20\n[train]\nbatch "
      "= 16\n";
  return train(parse_program_config("h.toml", text, settings), std::nullopt, nullptr, FinalTest::leave);
}

}  // namespace

TEST_CASE("a network whose hidden units never leave 0 ends in its first steps", "[equilibrium]") {
  // s = 0 at the start and rho'(0) = 0: every hidden unit stays there, and every gradient is 0.
  const TrainSummary dead = trained("hidden = [16]\nform = 'energy'");
  CHECK(dead.done < 15);
  CHECK(dead.equilibrium.dead == 1);
  CHECK_THAT(dead.failure, Catch::Contains("dead: 100 %"));
  CHECK_THAT(dead.advice, Catch::Contains("bias"));
  const TrainSummary lives = trained("hidden = [16]\nform = 'energy'\nactivation = 'tanh'");
  CHECK(lives.done == 40);
  CHECK(lives.failure.empty());
}

TEST_CASE("a free phase that is too short is told, and ends a run whose states are lost", "[equilibrium]") {
  const TrainSummary lost = trained("hidden = [16]", {"relaxation.free_steps=1"});
  CHECK(lost.done < 15);
  CHECK(lost.equilibrium.lost > 0.5);
  CHECK_THAT(lost.failure, Catch::Contains("free phase too short"));
  REQUIRE_THAT(lost.advice, Catch::Contains("steps (relaxation.free_steps) reach 1e-03"));
  // By the eigenvalues at the equilibrium: one step tells no rate. As many steps settle it.
  const std::string named = "relaxation.free_steps=" + std::to_string(std::stoi(lost.advice));
  CHECK(trained("hidden = [16]", {named}).equilibrium.clean());
  const TrainSummary near = trained("hidden = [16]", {"relaxation.free_steps=5"});  // 1/2^5 is left
  CHECK(near.done == 40);
  CHECK(near.failure.empty());
  CHECK(near.equilibrium.settled < 0.5);
  REQUIRE_FALSE(near.notes.empty());
  CHECK_THAT(near.notes.back(), Catch::StartsWith("free phase too short"));
  CHECK(trained("hidden = [16]").equilibrium.clean());
}
