// SPDX-License-Identifier: Apache-2.0
// Runs that have nothing to learn from end at once, with exit code 3, and say which key mends it.
#include "tests/support/catch.hpp"
#include "training/train/train_run.hpp"

#include "sim/equilibrium.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_log.hpp"

using namespace nudge;
using namespace nudge::test;

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

TEST_CASE("states that most steps leave more than a quarter away end a run, wherever it is found", "[equilibrium]") {
  // One sweep of a trained network: 0.1 away at the start, 0.3 after some hundred steps.
  std::vector<std::string> warned;
  const Config config =
      load_program_config(NUDGE_SOURCE_DIR "/examples/digits.toml", {"relaxation.free_steps=1", "train.steps=2000"});
  const TrainSummary run = train(config, std::nullopt, [&warned](const TrainProgress& p) {
    if (!p.warning.empty()) warned.push_back(p.warning);
    return true;
  });
  CHECK(run.done < 300);  // checked every 200th step, and again at once where the check failed
  CHECK(run.equilibrium.distance > 0.25);
  CHECK(run.equilibrium.distance < 0.4);
  CHECK_THAT(run.failure, Catch::Contains("free phase too short") && Catch::Contains("% from equilibrium"));
  CHECK_THAT(run.advice, Catch::Contains("relaxation.free_steps"));
  // Told at the first check, not after all steps, and once.
  REQUIRE(warned.size() == 1);
  CHECK_THAT(warned.front(), Catch::StartsWith("free phase too short"));
}

TEST_CASE("advice names keys that the network reads", "[equilibrium]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const std::string level : {"ideal", "mixed"}) {
      std::vector<std::string> settings{"hardware.level=" + level};
      if (level == "mixed") settings.insert(settings.begin(), "device.preset=ecram");
      const Config config = small(kind.name, settings);
      CAPTURE(kind.name, level);
      Equilibrium e;
      e.samples = 1;
      e.settled = e.lost = e.none = e.dead = 0;
      e.keys = advisable_keys(config);
      for (const double unstable : {0.0, 1.0}) {
        e.unstable = unstable;
        for (const double decay : {0.5, 1.5}) {
          e.decay = decay;
          for (const std::string& key : mending_keys()) {
            if (remedy(e).find(key) == std::string::npos) continue;
            CAPTURE(remedy(e), key);
            CHECK((training_reads(config, key) || key.starts_with("circuit.")));
            CHECK(network_reads(config, key));
          }
        }
      }
    }
  }
  // A circuit that is solved at once has no damping, no steps and no amplifiers.
  Equilibrium inverters;
  inverters.samples = 1;
  inverters.settled = 1;
  inverters.unstable = 1;
  inverters.lost = inverters.none = inverters.dead = 0;
  inverters.keys = advisable_keys(small("netlist", {"relaxation.solver=direct", "estimator=adjoint"}));
  CHECK(remedy(inverters) == "start elsewhere, or lower train.learning_rate if training lost it");
}
