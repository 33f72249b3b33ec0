// SPDX-License-Identifier: Apache-2.0
// A trained network after a wait: on the devices of its file, on new ones, with weights of other files.
#include "training/train/aged_test.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

/// A short training on digits; TrainSummary::test_loss is what the test starts from.
TrainSummary run_of(const std::filesystem::path& path, Settings settings) {
  settings.insert(settings.begin(), {"relaxation.free_steps=60", "relaxation.nudged_steps=30", "estimator=ep",
                                     "beta=0.1", "train.steps=30", "train.batch=16", "train.learning_rate=1e-2",
                                     "data.test_fraction=0.2", "train.evaluate_every=30", "train.checkpoint_every=30"});
  return train(small("hopfield", settings), path);
}

/// Conductances fall as (t/t0)^-nu, alike: every weight does.
const Settings kDrift{"device.model=soft_bounds", "device.drift_exponent=0.1", "device.drift_start=1 s",
                      "train.step_time=1 ns"};

}  // namespace

TEST_CASE("aged: without a wait and without noise it is what the run said", "[aged]") {
  const TemporaryDirectory dir;
  const TrainSummary run = run_of(dir / "run.h5", kDrift);
  const AgedTest test = aged_test(dir / "run.h5", {.ages_s = {0}});
  REQUIRE(test.rows.size() == 1);
  CHECK_FALSE(test.reprogrammed);
  CHECK(test.metric == "accuracy");
  CHECK(test.rows[0].loss == run.of("test_loss"));
  CHECK(test.rows[0].score == run.of("test_accuracy"));
  // A state that had no time to settle says so.
  const AgedTest early = aged_test(
      dir / "run.h5",
      {.ages_s = {0}, .settings = {"device.model=ideal", "device.programming_error=0", "relaxation.free_steps=1"}});
  CHECK(early.rows[0].residual > 100 * test.rows[0].residual);
  CHECK(aged_test(dir / "run.h5", {.ages_s = {0}, .part = "validation"}).rows[0].loss == run.of("validation_loss"));
}

TEST_CASE("aged: drift costs more the longer it is, whatever was read in between", "[aged]") {
  const TemporaryDirectory dir;
  run_of(dir / "run.h5", kDrift);
  const auto losses = [&](std::vector<double> ages) {
    std::vector<double> all;
    for (const AgedTestRow& row : aged_test(dir / "run.h5", {.ages_s = std::move(ages)}).rows) all.push_back(row.loss);
    return all;
  };
  const std::vector<double> steps = losses({1e5, 0, 1e2});  // in any order
  REQUIRE(steps.size() == 3);
  CHECK(steps[0] < steps[1]);
  CHECK(steps[1] < steps[2]);
  CHECK(losses({1e5})[0] == Approx(steps[2]).epsilon(1e-9));  // (t/t0)^-nu in two steps or one: rounding
}

TEST_CASE("aged: at a temperature an age is a longer one at that of the tables", "[aged]") {
  const TemporaryDirectory dir;
  Settings relaxing = kDrift;
  relaxing.resize(1);  // the model alone
  for (const char* setting : {"device.relaxation_level=['5 uS', '20 uS']", "device.relaxation_time=['10 ms', '1e6 s']",
                              "device.relaxation_spread=['0.2 uS', '2 uS', '0.2 uS', '2 uS']",
                              "device.relaxation_mean=['0 uS', '0 uS', '0 uS', '0 uS']", "train.step_time=1 ns"}) {
    relaxing.emplace_back(setting);
  }
  run_of(dir / "cold.h5", relaxing);
  CHECK_THROWS_WITH(aged_test(dir / "cold.h5", {.ages_s = {1}, .temperature_K = 358.15}),
                    Contains("device.relaxation_activation = 0"));
  relaxing.emplace_back("device.relaxation_activation=1");
  run_of(dir / "run.h5", relaxing);
  const auto loss = [&](double age, std::optional<double> temperature) {
    return aged_test(dir / "run.h5", {.ages_s = {age}, .temperature_K = temperature}).rows[0].loss;
  };
  const AgedTest hot = aged_test(dir / "run.h5", {.ages_s = {100}, .temperature_K = 358.15});
  // exp(11604.518 (1/300 − 1/358.15)) = 534.03
  CHECK(hot.acceleration == Approx(534.03).epsilon(1e-4));
  CHECK(hot.temperature_K == Approx(358.15));
  CHECK(hot.rows[0].loss == Approx(loss(53403, {})).epsilon(1e-4));
  CHECK(hot.rows[0].loss != Approx(loss(100, {})).epsilon(1e-4));
  CHECK(loss(100, 300) == loss(100, {}));
  CHECK_THROWS_WITH(aged_test(dir / "run.h5", {.temperature_K = 0}), Contains("must be above 0 K"));
}

TEST_CASE("aged: new devices have spreads of their own, the file's have not", "[aged]") {
  const TemporaryDirectory dir;
  Settings spread = kDrift;
  spread.emplace_back("device.programming_error=0.05");
  run_of(dir / "run.h5", spread);
  const AgedTest own = aged_test(dir / "run.h5", {.ages_s = {10}, .seeds = 2});
  CHECK(own.rows[0].loss == own.rows[1].loss);  // nothing of it is drawn
  const AgedTest fresh = aged_test(dir / "run.h5", {.ages_s = {10}, .seeds = 2, .reprogram = true});
  CHECK(fresh.reprogrammed);
  CHECK(fresh.rows[0].loss != fresh.rows[1].loss);
  CHECK(aged_test(dir / "run.h5", {.ages_s = {10}, .seeds = 2, .reprogram = true}).rows[1].loss == fresh.rows[1].loss);
  // Without programming error new devices hold what the file's do, to rounding of conductances.
  const AgedTest exact = aged_test(dir / "run.h5", {.ages_s = {10}, .settings = {"device.programming_error=0"}});
  CHECK(exact.rows[0].loss == Approx(own.rows[0].loss).epsilon(1e-6));
  // Other devices keep nothing of the old: no drift.
  const AgedTest ideal =
      aged_test(dir / "run.h5", {.ages_s = {0, 1e5}, .settings = {"device.model=ideal", "device.programming_error=0"}});
  CHECK(ideal.rows[0].loss == Approx(ideal.rows[1].loss).epsilon(1e-12));
}

TEST_CASE("aged: exact weights are written into devices that are asked for", "[aged]") {
  const TemporaryDirectory dir;
  const TrainSummary run = run_of(dir / "run.h5", {});
  CHECK_THROWS_WITH(aged_test(dir / "run.h5", {}), Contains("its weights are digital and do not age"));
  const Settings ideal{"device.model=ideal", "device.programming_error=0"};
  CHECK(aged_test(dir / "run.h5", {.settings = ideal}).rows[0].loss == Approx(run.of("test_loss")).epsilon(1e-6));
  // Weights of another run, under the config of this one.
  const TrainSummary other = run_of(dir / "other.h5", {"seed=5", "data.split_seed=1"});
  const AgedTest of_other = aged_test(dir / "other.h5", {.weights = (dir / "run.h5").string(), .settings = ideal});
  CHECK(of_other.rows[0].loss != Approx(other.of("test_loss")).epsilon(1e-3));
}

TEST_CASE("aged: resistors that are written anew have windows without room to learn", "[aged]") {
  const TemporaryDirectory dir;
  const TrainSummary run =
      train(small("resistive", {"estimator=ep", "beta=0.1", "train.steps=20", "crossbar.headroom=6",
                                "data.test_fraction=0.2", "train.evaluate_every=20"}),
            dir / "run.h5");
  // With room for six times the largest the lower end of this window is at 6/10 of it.
  const auto lost = [&](Settings asked) {
    asked.insert(asked.end(), {"device.model=soft_bounds", "device.g_min=2.5 uS", "device.programming_error=0"});
    return std::abs(aged_test(dir / "run.h5", {.settings = std::move(asked)}).rows[0].loss - run.of("test_loss"));
  };
  CHECK(lost({}) == lost({"crossbar.headroom=1"}));
  CHECK(lost({"crossbar.headroom=6"}) > 2 * lost({}));
}

TEST_CASE("aged: what does not fit is refused", "[aged]") {
  const TemporaryDirectory dir;
  run_of(dir / "run.h5", kDrift);
  const auto refused = [&](const AgedTestOptions& options, const char* why) {
    CHECK_THROWS_WITH(aged_test(dir / "run.h5", options), Contains(why));
  };
  refused({.ages_s = {}}, "0 ages");
  refused({.ages_s = {-1}}, "age = -1 s (must be finite and at least 0)");
  refused({.seeds = 0}, "seeds = 0 (must be in [1, 255])");
  refused({.part = "training"}, "part = training (must be test or validation)");
  refused({.weights = "nowhere.npz"}, "nowhere.npz");
  refused({.settings = {"device.preset=pcmm"}}, "pcmm");
  refused({.settings = {"hopfield.hidden=[12]"}}, "shape");  // no network of that size has these weights
}

TEST_CASE("aged: devices that are written anew are as old as their last write", "[aged]") {
  const TemporaryDirectory dir;
  run_of(dir / "run.h5", kDrift);
  const auto losses = [&](std::vector<double> ages, double refresh) {
    std::vector<double> all;
    for (const AgedTestRow& row : aged_test(dir / "run.h5", {.ages_s = std::move(ages), .refresh_s = refresh}).rows) {
      all.push_back(row.loss);
    }
    return all;
  };
  const double young = losses({50}, 0)[0];
  CHECK(losses({2050}, 0)[0] > young);
  // Written at 1000 and 2000 s without an error of programming, then 50 s of drift: rounding of conductances in float.
  CHECK(losses({2050}, 1000)[0] == Approx(young).epsilon(1e-4));
  const std::vector<double> several = losses({50, 1050, 2050}, 1000);  // whatever was read in between
  CHECK(several[0] == Approx(young).epsilon(1e-9));
  CHECK(several[2] == Approx(young).epsilon(1e-4));
  CHECK_THROWS_WITH(losses({1e9}, 1), Contains("at most 16384 rewritings"));
  CHECK_THROWS_WITH(losses({1}, -1), Contains("refresh = -1 s"));
}
