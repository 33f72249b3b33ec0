// SPDX-License-Identifier: Apache-2.0
// Samples side by side as rows of one state, and rows that do not count.
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/sample_task.hpp"
#include "training/learning/cross_entropy.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/registry.hpp"
#include "training/train/learning_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

Config config_of(std::vector<std::string> settings) {
  settings.insert(settings.begin(), {"precision=double", "network.kind=hopfield", "task.kind=classification"});
  return parse_program_config("t", "", settings);
}

/// n samples of 5 features with 3 classes, and 2 values each.
Batch samples(Index n, bool values) {
  Batch batch{n, 1, {}, {}, random_matrix<double>(n, 5, 1).cast<float>(), {}};
  for (Index i = 0; i < n; ++i) batch.targets.push_back(static_cast<int>(i * i % 3));
  if (!values) return batch;
  batch.targets.clear();
  batch.values = random_matrix<double>(n, 2, 2).cast<float>();
  return batch;
}

/// The network of a config for those samples in examples of so many rows.
std::unique_ptr<Network<double>> network_for(const Config& config, Index rows, bool values,
                                             Weights weights = Weights::digital) {
  const TaskSizes sizes{rows, 0, values ? 0 : 3, 5, values ? 2 : 0, {5}};
  return make_network<double>(config, network_plan(config, sizes), weights);
}

}  // namespace

TEST_CASE("side_by_side keeps the rows in order and fills up the last example with rows that do not count") {
  for (const bool values : {false, true}) {
    const Batch one = samples(7, values), three = side_by_side(one, 3);
    CHECK(three.sequences == 3);
    CHECK(three.tokens == 3);
    CHECK(three.counted() == 7);
    CHECK(three.counted(2) == 1);
    CHECK(three.features.topRows(7) == one.features);
    CHECK(three.features.bottomRows(2).norm() == 0);
    for (Index row = 0; row < 9; ++row) CHECK(three.counts(row) == (row < 7));
    CHECK(side_by_side(one, 7).counted() == 7);
    CHECK(side_by_side(one, 7).ignored.empty());
    const Batch part = three.first(2);
    CHECK(part.sequences == 2);
    CHECK(part.features.rows() == 6);
    CHECK(part.counted() == 6);
    CHECK(three.first(9).counted() == 7);
  }
}

TEST_CASE("rows that do not count have the cost 0 and the gradient 0") {
  const Matrix<double> z = random_matrix<double>(6, 4, 3);  // two copies of three rows
  Matrix<double> some(6, 4);
  Batch batch{1, 3, {}, {1, Batch::kIgnored, 2}, {}, {}};
  DigitalMatrix<double> weights(random_matrix<double>(4, 3, 4));
  CrossEntropyReadout<double> entropy(weights, 0, 3, 2);
  SquaredError<double> squares({0, 4});
  for (ExampleCost<double>* cost :
       {static_cast<ExampleCost<double>*>(&entropy), static_cast<ExampleCost<double>*>(&squares)}) {
    cost->bind(batch, 0, ReadContext{});
    const double value = cost->value(z.topRows(3));
    cost->gradient(z, some);
    for (const Index row : {1, 4}) CHECK(some.row(row).norm() == 0);
    for (const Index row : {0, 2, 3, 5}) CHECK(some.row(row).norm() > 0);
    Matrix<double> other = z;
    other.row(1).array() += 1;
    CHECK(cost->value(other.topRows(3)) == value);
    batch.targets[1] = 0;
    cost->bind(batch, 0, ReadContext{});
    CHECK(cost->value(z.topRows(3)) > value);
    batch.targets[1] = Batch::kIgnored;
  }
  const std::vector<ParameterShape> shapes{{4, 3}};
  Gradient<double> gradient(shapes), without(shapes);
  entropy.bind(batch, 0, ReadContext{});
  entropy.accumulate_parameter_gradient(z.topRows(3), 1.0, gradient);
  Matrix<double> hidden = z;
  hidden.row(1).array() += 3;
  entropy.accumulate_parameter_gradient(hidden.topRows(3), 1.0, without);
  CHECK(gradient[0] == without[0]);
  CHECK(gradient[0].norm() > 0);
}

TEST_CASE("samples side by side have the loss, gradient, time and scores of samples one by one") {
  for (const bool values : {false, true}) {
    for (const char* estimator : {"ep", "ep_contrastive", "aep_transposed", "implicit", "bptt"}) {
      CAPTURE(values, estimator);
      const Config config =
          config_of({"hopfield.hidden=[6]", "relaxation.free_steps=40", "relaxation.nudged_steps=30", "beta=0.1",
                     "train.batch=7", "growth.strength=0.3", std::string("estimator=") + estimator,
                     values ? "task.kind=regression" : "task.kind=classification"});
      const auto network = network_for(config, 1, values);
      const Batch batch = samples(7, values);
      const auto options = gradient_options<double>(config, "");
      const auto alone = learn(*network, batch, options);
      for (const Index rows : {2, 3, 7}) {
        const auto wide = network_for(config, rows, values);
        const Batch beside = side_by_side(batch, rows);
        const auto together = learn(*wide, beside, options);
        // Sums of some hundred products in another order; implicit solves to 1e-12 of a residual that all rows share.
        CHECK(gradient_error(together.gradient, alone.gradient) <
              (std::string(estimator) == "implicit" ? 1e-10 : 1e-12));
        CHECK(together.report.loss == Approx(alone.report.loss).epsilon(1e-13));
        CHECK(together.report.passes == 7);
        CHECK(together.report.time == Approx(alone.report.time).epsilon(1e-14));
        CHECK(together.report.nudged_time == Approx(alone.report.nudged_time).epsilon(1e-14));
        BatchGradient<double> learner(*wide, options), one(*network, options);
        SampleScores scores(true), expected(true);
        CHECK(learner.evaluate(beside, 0).loss == Approx(one.evaluate(batch, 0).loss).epsilon(1e-13));
        scores.add(beside, learner.outputs());
        expected.add(batch, one.outputs());
        REQUIRE(scores.value());
        CHECK(*scores.value() == Approx(*expected.value()).epsilon(1e-12));
        if (!values) CHECK(scores.confusion()->counts() == expected.confusion()->counts());
      }
    }
  }
}

TEST_CASE("side by side, equal samples have noise of their own, and time and energy of one each") {
  const std::vector<std::string> settings{"hopfield.hidden=[6]",
                                          "device.model=soft_bounds",
                                          "device.read_noise=2 %",
                                          "relaxation.free_steps=10",
                                          "train.batch=4",
                                          "estimator=ep",
                                          "beta=0.2"};
  const Config config = config_of(settings);
  Batch batch = samples(4, false);
  for (Index i = 1; i < 4; ++i) {
    batch.features.row(i) = batch.features.row(0);
    batch.targets[static_cast<std::size_t>(i)] = batch.targets[0];
  }
  const auto wide = network_for(config, 4, false, Weights::configured);
  auto options = gradient_options<double>(config, "");
  options.noise_every = 0;
  const auto together = learn(*wide, side_by_side(batch, 4), options);
  const Matrix<double>& z = together.states.front();
  for (Index i = 1; i < 4; ++i) CHECK((z.row(i) - z.row(0)).norm() > 1e-6);
  const auto narrow = network_for(config, 1, false, Weights::configured);
  const auto alone = learn(*narrow, batch, options);
  CHECK(together.report.time == Approx(alone.report.time).epsilon(1e-14));
  CHECK(together.report.read_time == Approx(alone.report.read_time).epsilon(1e-12));
  const ReadTotals a = together.report.reads.total(), b = alone.report.reads.total();
  CHECK(a.reads == b.reads);
  CHECK(a.array_J == Approx(b.array_J).epsilon(0.05));  // of states with other noise
  // One sample after the other: no slots, whatever model.tokens says.
  CHECK(model_arrays(config).tokens.count == 1);
  CHECK(options.slots == 1);
}

TEST_CASE("data.side_by_side: what it divides, and its default") {
  CHECK(samples_side_by_side(config_of({"train.batch=20"})) == 10);
  CHECK(samples_side_by_side(config_of({"train.batch=13"})) == 13);
  CHECK(samples_side_by_side(config_of({"train.batch=17"})) == 1);
  CHECK(samples_side_by_side(config_of({"train.batch=64", "data.side_by_side=32"})) == 32);
  CHECK_THROWS_WITH(config_of({"train.batch=20", "data.side_by_side=8"}),
                    Contains("data.side_by_side = 8 (must divide train.batch = 20, or be 0"));
}
