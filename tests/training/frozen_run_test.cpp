// SPDX-License-Identifier: Apache-2.0
// The lane with frozen devices: what it changes, what it leaves alone, and what is won against it.
#include "tests/support/catch.hpp"
#include "training/train/train_summary.hpp"

#include <cmath>
#include <limits>

#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/assembly.hpp"
#include "training/config/run_parts.hpp"
#include "training/config/train_options.hpp"
#include "training/models/block/block_plan.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// Devices that pulses move a visible way, with errors and noise of their own; a bound on the memory that binds at once.
const Settings kDevices{"device.model=soft_bounds",
                        "device.update=pulsed",
                        "device.programming_error=1 %",
                        "device.read_noise=0.1 %",
                        "device.pulses=200",
                        "estimator=aep_transposed",
                        "memory_bound.fraction=0.1",
                        "beta=0.1",
                        "train.steps=12"};

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

std::vector<double> column(const H5Reader& file, const std::string& path) { return file.reals<double>(path); }

/// The weights of a map as a run starts with them.
Matrix<float> initial(const Config& config, int parameter, double seconds_a_step = 0, std::uint64_t steps = 0) {
  const RunParts parts = run_parts(config);
  const auto network = make_network<float>(config, parts.plan, Weights::configured);
  for (std::uint64_t n = 0; n < steps; ++n) network->map(parameter).advance_time(seconds_a_step, n);
  return network->map(parameter).weights();
}

Matrix<float> stored(const H5Reader& file, const std::string& path, const Matrix<float>& like) {
  return file.matrix<float>(path, H5Shape{like.rows(), like.cols()});
}

}  // namespace

TEST_CASE("frozen devices are programmed and never written, numbers beside them learn", "[train]") {
  const TemporaryDirectory dir;
  // Scheme and rule of the run do not matter: none of them may write, not even the bound of the memory.
  const Settings more = GENERATE(
      Settings{}, Settings{"crossbar.update=write_verify"}, Settings{"crossbar.update=tiki_taka"},
      Settings{"crossbar.update=one_sided", "crossbar.mapping=one_sided"}, Settings{"circuit.tokens=replicated"},
      Settings{"crossbar.update=coincidence", "train.optimizer=sgd", "train.momentum=0", "train.gradient_clip=0"});
  CAPTURE(more);
  const Config config = tiny_config(with(kDevices, more));
  const TrainSummary summary = train(config, dir / "run.h5");
  REQUIRE(summary.null.has_value());
  const H5Reader file(dir / "run.h5");
  const Matrix<float> memory = initial(config, BlockParameter::input).rightCols(12);
  CHECK(stored(file, "null/parameters/Wm", memory) == memory);
  const Matrix<float> readout = initial(config, 4);
  CHECK(stored(file, "null/parameters/Wh", readout) == readout);
  CHECK_FALSE(stored(file, "parameters/Wm", memory) == memory);  // the run itself
  CHECK_FALSE(stored(file, "parameters/Wh", readout) == readout);
  const Matrix<float> table = initial(config, BlockParameter::tok);
  CHECK_FALSE(stored(file, "null/parameters/tok", table) == table);
  CHECK(file.text_attribute("estimator", "null/train") == "aep_transposed");
  // The same devices, batches and noise: both see the same in the first step. Pulse trains sum a gradient in another order.
  CHECK(column(file, "null/train/loss")[0] == column(file, "train/loss")[0]);
}

TEST_CASE("the frozen-device lane is the run that crossbar.update = none makes", "[train]") {
  const TemporaryDirectory dir;
  train(tiny_config(kDevices), dir / "run.h5");
  const Config frozen = tiny_config(with(kDevices, {"crossbar.update=none"}));
  CHECK_FALSE(train(frozen, dir / "frozen.h5").null.has_value());  // auto: nothing to freeze
  const H5Reader run(dir / "run.h5"), alone(dir / "frozen.h5");
  for (const std::string name : {"loss", "validation_loss", "gradient_norm", "residual"}) {
    CAPTURE(name);
    CHECK(column(run, "null/train/" + name) == column(alone, "train/" + name));
  }
  const Matrix<float> table = initial(frozen, BlockParameter::tok);
  CHECK(stored(run, "null/parameters/tok", table) == stored(alone, "parameters/tok", table));
  // What scripts read.
  CHECK(column(run, "null/validation_loss") == column(run, "null/train/validation_loss"));
  CHECK(run.text_attribute("x", "null/validation_loss") == "null/train/validation_step");
  CHECK_FALSE(alone.has("null"));
}

TEST_CASE("time passes for frozen devices", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config(with(kDevices, {"device.drift_exponent=0.05", "device.drift_start=1 s",
                                                    "device.drift_spread=0.02", "train.step_time=2 s"}));
  train(config, dir / "run.h5");
  const Matrix<float> aged = initial(config, 4, 2, 12);
  CHECK_FALSE(aged == initial(config, 4));
  CHECK(stored(H5Reader(dir / "run.h5"), "null/parameters/Wh", aged) == aged);
}

TEST_CASE("auto freezes devices where training writes some, and the file says what was run", "[train]") {
  const auto null_of = [](const Settings& settings) { return resolved_null(tiny_config(settings)); };
  CHECK(null_of({}) == "none");
  CHECK(null_of({"device.model=soft_bounds"}) == "frozen_devices");
  CHECK(null_of({"device.preset=ecram"}) == "frozen_devices");
  CHECK(null_of({"device.preset=ecram", "train.null=none"}) == "none");
  CHECK(null_of({"device.preset=ecram", "crossbar.update=none"}) == "none");
  const TemporaryDirectory dir;
  const Config config = tiny_config({"device.model=soft_bounds", "train.steps=2"});
  train(config, dir / "run.h5");
  const Config said = parse_program_config("stored", H5Reader(dir / "run.h5").text_attribute("config"));
  CHECK(train_options(said).null == "frozen_devices");
  CHECK(resume(dir / "run.h5", &config).null.has_value());  // auto is no other config
  CHECK_FALSE(train(tiny_config({"train.steps=2"}), dir / "digital.h5").null.has_value());
  CHECK_FALSE(H5Reader(dir / "digital.h5").has("null"));
}

TEST_CASE("a lane of frozen devices is refused where there is nothing to freeze", "[train]") {
  CHECK_THROWS_WITH(tiny_config({"train.null=frozen_devices"}), Contains("no devices to freeze"));
  CHECK_THROWS_WITH(tiny_config({"train.null=frozen_devices", "device.model=ideal", "crossbar.update=none"}),
                    Contains("the run itself are frozen"));
}

TEST_CASE("a gain over examples of one size is the paired t interval", "[train]") {
  // d = 1, 2, 4 over 2 rows each: per row 0.5, 1, 2, mean 7/6, deviation √(7/12), t(0.975, 2) = 4.30265.
  ExampleLosses run, other;
  for (const double d : {1.0, 2.0, 4.0}) {
    run.add(3, 2);
    other.add(3 + d, 2);
  }
  const LossGain gain = loss_gain(run, other);
  const double half = 4.302652729911275 * std::sqrt(7.0 / 12) / std::sqrt(3.0);
  CHECK(gain.won == Approx(7.0 / 6).epsilon(1e-14));
  CHECK(gain.low == Approx(7.0 / 6 - half).epsilon(1e-9));
  CHECK(gain.high == Approx(7.0 / 6 + half).epsilon(1e-9));
  CHECK(gain.examples == 3);
  CHECK_FALSE(gain.significant());  // 7/6 − 1.897 < 0
  CHECK_THAT(null_verdict(gain, "nat"), Contains("learnt nothing beyond frozen ones"));
}

TEST_CASE("examples count by their rows", "[train]") {
  // d = 2 over 1 row, 3 over 3: won 5/4; off the line 2 − 5/4 and 3 − 15/4, √(2/1 (9/16 + 9/16)) = 3/2 over 4 rows,
  // t(0.975, 1) = 12.7062.
  ExampleLosses run, other;
  run.add(1, 1);
  other.add(3, 1);
  run.add(2, 3);
  other.add(5, 3);
  const LossGain gain = loss_gain(run, other);
  CHECK(gain.won == 1.25);
  CHECK(gain.high - gain.won == Approx(12.706204736432095 * 1.5 / 4).epsilon(1e-9));
}

TEST_CASE("what is not known is not said", "[train]") {
  ExampleLosses one, other;
  one.add(1, 1);
  other.add(2, 1);
  CHECK(loss_gain(one, other).won == 1);
  CHECK_FALSE(loss_gain(one, other).significant());
  CHECK_THAT(null_verdict(loss_gain(one, other), "nat"), Contains("no interval"));
  other.loss[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(loss_gain(one, other).significant());
  CHECK_THAT(null_verdict(loss_gain(one, other), "nat"), Contains("not known"));
}

TEST_CASE("a run whose devices died with their first pulse wins next to nothing", "[train]") {
  const Settings longer{"train.steps=300", "train.evaluation_batches=10", "memory_bound.fraction=0.9",
                        "train.evaluate_every=0"};
  const TrainSummary live = train(tiny_config(with(kDevices, longer)), std::nullopt);
  REQUIRE(live.null.has_value());
  const TrainSummary dead =
      train(tiny_config(with(kDevices, with(longer, {"device.endurance=0.5", "device.endurance_failure=stuck"}))),
            std::nullopt);
  REQUIRE(dead.null.has_value());
  CAPTURE(live.null->verdict, dead.null->verdict, live.of("validation_loss"), dead.of("validation_loss"));
  CHECK(live.null->gain.significant());
  CHECK_THAT(live.null->verdict, Contains("the devices won"));
  // The lane does not depend on what pulses do to the run's devices.
  CHECK(live.of("null/validation_loss") == dead.of("null/validation_loss"));
  CHECK(live.null->gain.won == Approx(live.of("null/validation_loss") - live.of("validation_loss")).epsilon(1e-6));
  CHECK(std::abs(dead.null->gain.won) < 0.2 * live.null->gain.won);
}
