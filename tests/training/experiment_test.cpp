// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>

#include "sim/base/errors.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/experiments/experiment.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kSmall =
    "[experiment]\ntasks = ['argmax']\nseeds = [1, 2]\ntest_examples = 20\n"
    "[model]\nchannels = 8\ntokens = 6\nheads = 2\n"
    "[train]\nsteps = 4\nbatch = 5\nevaluate_every = 2\nlearning_rate = 1e-2\nwarmup = 0\n";

Config small(const std::vector<std::string>& settings = {}) {
  return parse_program_config("small.toml", kSmall, settings);
}

std::string error_of(const Config& config, const ExperimentFiles& files) {
  try {
    run_experiment(config, files);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an experiment runs every variant with every seed and writes their curves") {
  const TemporaryDirectory folder;
  const Experiment experiment = run_experiment(small(), {folder / "a.h5", false});
  REQUIRE(experiment.runs.size() == 4);
  CHECK(experiment.count_ok() == 4);
  const H5Reader file(folder / "a.h5");
  CHECK(file.text_attribute("kind") == "experiment");
  CHECK(file.texts("results/variant") == std::vector<std::string>{"softmax", "softmax", "fem", "fem"});
  CHECK(file.integers("results/seed") == std::vector<std::int64_t>{1, 2, 1, 2});
  CHECK(file.integers("results/parameters") == std::vector<std::int64_t>{128, 128, 208, 208});
  CHECK(file.reals<double>("runs/argmax/fem/seed2/loss").size() == 4);
  CHECK(file.reals<double>("runs/argmax/fem/seed2/validation_step") == std::vector<double>{2, 4});
  CHECK(file.reals<double>("runs/argmax/fem/seed2/index_accuracy").back() ==
        file.reals<double>("results/index_accuracy").back());
  for (const std::string& dataset : file.all_datasets()) CHECK_FALSE(file.meaning(dataset).description.empty());
  const auto rows = summarise_experiment(experiment);
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].runs == 2);
  const double a = experiment.runs[2].result(0), b = experiment.runs[3].result(0);
  CHECK(rows[1].results[0].mean == Approx((a + b) / 2));
  CHECK(rows[1].results[0].deviation == Approx(std::abs(a - b) / std::sqrt(2.0)));
}

TEST_CASE("results of an experiment do not depend on the number of threads") {
  const TemporaryDirectory folder;
  // 20 test examples and a batch of 17: chunks of one and of two examples.
  run_experiment(small({"threads=1", "train.batch=17"}), {folder / "one.h5", false});
  run_experiment(small({"threads=3", "train.batch=17"}), {folder / "three.h5", false});
  CHECK(differing_objects(folder / "one.h5", folder / "three.h5", {"started", "wall_time_s", "threads", "config"})
            .empty());
}

TEST_CASE("a stopped experiment keeps finished runs and resumes to the same bits") {
  const TemporaryDirectory folder;
  run_experiment(small(), {folder / "whole.h5", false});
  int steps = 0;
  ExperimentObserver observer;
  observer.step = [&steps](const ExperimentRun&, std::int64_t, const TrainLog&) { ++steps; };
  observer.stop = [&steps] { return steps >= 6; };  // within the second of four runs
  const Experiment part = run_experiment(small(), {folder / "part.h5", false}, observer);
  CHECK(part.interrupted);
  CHECK(part.count_ok() == 1);
  CHECK(H5Reader(folder / "part.h5").integers("results/seed").size() == 1);
  steps = -1000;
  const Experiment rest = run_experiment(small({"threads=2"}), {folder / "part.h5", true}, observer);
  CHECK(rest.count_ok() == 4);
  CHECK(steps == -1000 + 3 * 4 - 2);  // the finished run was not repeated, the second went on after two steps
  CHECK(differing_objects(folder / "whole.h5", folder / "part.h5", {"started", "wall_time_s", "threads", "config"})
            .empty());
}

TEST_CASE("an experiment refuses a file of another config, an existing file, and sizes that do not fit") {
  const TemporaryDirectory folder;
  run_experiment(small({"experiment.seeds=1"}), {folder / "a.h5", false});
  CHECK_THAT(error_of(small(), {folder / "a.h5", false}), Contains("exists"));
  CHECK_THAT(error_of(small({"train.batch=6"}), {folder / "a.h5", true}),
             Contains("train.batch: 5 in the file, 6 in the config"));
  CHECK(error_of(small(), {folder / "a.h5", true}).empty());  // another seed is fine
  CHECK_THAT(error_of(small({"experiment.tasks=[]"}), {folder / "b.h5", false}), Contains("experiment.tasks is empty"));
  CHECK_THAT(error_of(small({"experiment.seeds=[]"}), {folder / "b.h5", false}), Contains("experiment.seeds is empty"));
}

TEST_CASE("a run whose loss is not finite is recorded as such and the others go on") {
  const TemporaryDirectory folder;
  // A rate of 1e30 sends the free energy's weights to where products overflow; softmax reads stay within the values.
  const Experiment experiment =
      run_experiment(small({"train.learning_rate=1e30", "experiment.seeds=1"}), {folder / "a.h5", false});
  CHECK(experiment.runs[0].status != "");
  CHECK_THAT(experiment.runs[1].status, Contains("not finite"));
  CHECK(std::isnan(experiment.runs[1].result(0)));
  const auto statuses = H5Reader(folder / "a.h5").texts("results/status");
  CHECK(statuses[1] == experiment.runs[1].status);
}

TEST_CASE("the free energy learns what a convex read cannot") {
  const TemporaryDirectory folder;
  // T = 16, D = 16: F = Δ + ε − log(T)/β recovers the winner where β > log(T)/0.43 = 6.4 (the value is then nearer to
  // the winner's than to the noise); β grows by about the rate per step from 1.95, so 1000 steps of 0.01 reach 10. A
  // convex read is at the mean, Δ/T, unless it picks the one winner of a channel: 1/T = 6 % and a little more.
  const Experiment e =
      run_experiment(small({"model.channels=16", "model.tokens=16", "train.steps=1000", "experiment.seeds=1",
                            "train.schedule=constant", "train.batch=16", "train.evaluate_every=0",
                            "train.adam_beta2=0.999", "experiment.test_examples=100"}),
                     {folder / "a.h5", false});
  CHECK(e.runs[0].result(1) < 0.3);
  CHECK(e.runs[1].result(1) > 0.9);
}
