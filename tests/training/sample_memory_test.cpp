// SPDX-License-Identifier: Apache-2.0
// What a training keeps of every sample from visit to visit, and nudges whose side is drawn.
#include "training/batch/sample_memory.hpp"

#include <cmath>
#include <numeric>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/task.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

/// Digits of which 90 are left to train on: an epoch is six steps.
Config digits(const Settings& more = {}) {
  Settings all{"network.kind=hopfield",
               "task.kind=classification",
               "estimator=ep",
               "beta=0.1",
               "threads=1",
               "hopfield.hidden=[12]",
               "data.validation_fraction=0.95",
               "data.test_fraction=0",
               "data.validation_samples=10",
               "train.batch=15",
               "train.steps=24",
               "train.warmup=0",
               "train.schedule=constant",
               "train.learning_rate=1e-4",
               "train.evaluate_every=12",
               "train.checkpoint_every=6",
               "relaxation.free_steps=3",
               "relaxation.nudged_steps=3",
               "task.references=off"};
  all.insert(all.end(), more.begin(), more.end());
  return parse_program_config("digits.toml", "", all);
}

double last_residual(const std::filesystem::path& file) {
  const std::vector<double> all = H5Reader(file).reals<double>("train/residual");
  return std::accumulate(all.end() - 6, all.end(), 0.0) / 6;  // of the last epoch
}

}  // namespace

TEST_CASE("a sample finds what was kept of it, and nothing at its first visit", "[memory]") {
  SampleMemory<double> memory(2);
  Matrix<double> rows(3, 2);
  std::vector<char> visited;
  memory.recall(std::vector<std::int64_t>{4, -1, 0}, rows, visited);
  CHECK(rows.isZero(0));
  CHECK(visited == std::vector<char>{0, 0, 0});
  rows << 1, 2, 3, 4, 5, 6;
  memory.remember(std::vector<std::int64_t>{4, -1, 4}, rows);  // twice in a batch: the later row stays
  memory.recall(std::vector<std::int64_t>{0, 4, 9}, rows, visited);
  CHECK(visited == std::vector<char>{0, 1, 0});
  CHECK(rows.row(1) == (Matrix<double>(1, 2) << 5, 6).finished());
  CHECK(rows.row(0).isZero(0));
}

TEST_CASE("persistent states settle in steps that are too few from rest", "[memory]") {
  const TemporaryDirectory dir;
  train(digits(), dir / "rest.h5");
  train(digits({"relaxation.persistent_states=true"}), dir / "kept.h5");
  // From rest three steps leave rho^3 of the way to z*; from the last visit they leave as much of what 6 steps at a rate of 1e-4 have moved
  // z*, which is some 1e-3 of its size: far below a quarter.
  CHECK(last_residual(dir / "kept.h5") < last_residual(dir / "rest.h5") / 4);
}

TEST_CASE("what is kept is the same for any threads, and in a run that was stopped", "[memory]") {
  const TemporaryDirectory dir;
  const Settings kept{"relaxation.persistent_states=true", "nudge.sides=random", "nudge.running_mean=0.5",
                      "data.side_by_side=4"};
  const auto with = [&](Settings more) {
    more.insert(more.begin(), kept.begin(), kept.end());
    more.emplace_back("train.batch=16");  // beyond an epoch's end within a batch
    return digits(more);
  };
  train(with({}), dir / "whole.h5");
  train(with({"threads=3"}), dir / "threads.h5");
  const auto but = [](std::vector<std::string> all) {
    std::erase(all, "attribute config");
    return all;
  };
  CHECK(but(differing_objects(dir / "whole.h5", dir / "threads.h5", {"started", "wall_time_s", "threads"})).empty());
  train(with({}), dir / "broken.h5", [](const TrainProgress& p) { return p.done < 12; });
  resume(dir / "broken.h5", nullptr);
  CHECK(differing_objects(dir / "whole.h5", dir / "broken.h5", {"started", "wall_time_s"}).empty());
  const auto visits = H5Reader(dir / "whole.h5").reals<double>("checkpoint/samples/visits");
  CHECK(std::accumulate(visits.begin(), visits.end(), 0.0) >= 85);  // all of about 90 samples
}

TEST_CASE("a running mean of gradients is the one that its batches give, bias-corrected", "[memory]") {
  const Config config = digits({"nudge.running_mean=0.75", "precision=double"}), plain = digits({"precision=double"});
  const auto task = make_task(config);
  const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::configured);
  BatchGradient<double> averaged(*network, gradient_options<double>(config, ""));
  BatchGradient<double> alone(*network, gradient_options<double>(plain, ""));
  ParameterMemory<double> memory(network->parameter_shapes(), averaged.parameter_matrices());
  Gradient<double> found, one;
  std::vector<Matrix<double>> sums;
  double weights = 0;
  for (std::uint64_t step = 0; step < 5; ++step) {
    averaged.compute(task->training(step), step, found);
    averaged.finish(memory, found);
    alone.compute(task->training(step), step, one);
    weights = 0.75 * weights + 0.25;
    for (int p = 0; p < one.size(); ++p) {
      if (step == 0) sums.push_back(Matrix<double>::Zero(one[p].rows(), one[p].cols()));
      Matrix<double>& sum = sums[static_cast<std::size_t>(p)];
      sum = 0.75 * sum + 0.25 * one[p];
      CHECK(found[p].isApprox(sum / weights, 1e-14));  // a few roundings of 2e-16
    }
  }
}

TEST_CASE("a batch whose step is skipped leaves no trace in the running mean", "[memory]") {
  // After ten steps hardly any passes a limit of 1.0001 times the mean norm so far.
  const TemporaryDirectory dir;
  const Settings limit{"nudge.running_mean=0.5", "train.skip_ratio=1.0001"};
  train(digits(limit), dir / "run.h5");
  const H5Reader file(dir / "run.h5");
  const auto taken = file.reals<double>("checkpoint/estimator/batches");
  const auto skipped = file.reals<double>("train/skipped");
  CHECK(taken.at(0) == 24 - std::accumulate(skipped.begin(), skipped.end(), 0.0));
  CHECK(taken.at(0) < 24);
}

TEST_CASE("a running mean wants a gradient that is summed, and one that is a circuit's", "[memory]") {
  CHECK_THROWS_WITH(
      parse_program_config("digits.toml", "[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\n",
                           {"device.preset=ecram", "crossbar.update=coincidence", "train.optimizer=sgd",
                            "train.momentum=0", "train.gradient_clip=0", "nudge.running_mean=0.9"}),
      Contains("nudge.running_mean = 0.9 (must be 0 for crossbar.update = coincidence"));
  const Config computed = digits({"estimator=bptt", "nudge.running_mean=0.9"});  // which other estimators would read
  CHECK(gradient_options<double>(computed, "").phases.running_mean == 0);
  CHECK(gradient_options<double>(computed, "ep").phases.running_mean == 0.9);
}

TEST_CASE("a random side is +beta or -beta, the same for all of a batch", "[memory]") {
  const auto gradient_of = [](const std::string& sides, std::uint64_t step) {
    const Config config = digits({"nudge.sides=" + sides, "precision=double", "beta=0.3"});
    const auto task = make_task(config);
    const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::configured);
    Gradient<double> gradient;
    BatchGradient<double>(*network, gradient_options<double>(config, "")).compute(task->training(step), step, gradient);
    return gradient;
  };
  const auto same = [](const Gradient<double>& a, const Gradient<double>& b) {
    for (int p = 0; p < a.size(); ++p) {
      if (a[p] != b[p]) return false;
    }
    return true;
  };
  int up = 0;
  for (std::uint64_t step = 0; step < 24; ++step) {
    const auto random = gradient_of("random", step);
    const bool positive = same(random, gradient_of("positive", step)),
               negative = same(random, gradient_of("negative", step));
    CHECK(positive != negative);
    up += positive ? 1 : 0;
  }
  CHECK(up > 3);  // of 24 fair coins less than 4 or more than 20 is a chance of 3e-4
  CHECK(up < 21);
}

TEST_CASE("states are kept of samples alone", "[memory]") {
  CHECK_THROWS_WITH(parse_program_config("block.toml", "", {"relaxation.persistent_states=true"}),
                    Contains("nothing reads it: network.kind = block; a network of independent samples would"));
}
