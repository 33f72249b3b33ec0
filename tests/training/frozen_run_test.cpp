// SPDX-License-Identifier: Apache-2.0
// The null of frozen devices: what it changes, what it leaves alone, and what is won against it.
#include "tests/support/catch.hpp"
#include "training/train/train_summary.hpp"

#include <cmath>

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
  CHECK(stored(file, "null/frozen_devices/parameters/Wm", memory) == memory);
  const Matrix<float> readout = initial(config, 4);
  CHECK(stored(file, "null/frozen_devices/parameters/Wh", readout) == readout);
  CHECK_FALSE(stored(file, "parameters/Wm", memory) == memory);  // the run itself
  CHECK_FALSE(stored(file, "parameters/Wh", readout) == readout);
  const Matrix<float> table = initial(config, BlockParameter::tok);
  CHECK_FALSE(stored(file, "null/frozen_devices/parameters/tok", table) == table);
  CHECK(file.text_attribute("estimator", "null/frozen_devices/train") == "aep_transposed");
  // The same devices, batches and noise: both see the same in the first step. Pulse trains sum a gradient in another order.
  CHECK(column(file, "null/frozen_devices/train/loss")[0] == column(file, "train/loss")[0]);
}

TEST_CASE("the frozen-device lane is the run that crossbar.update = none makes", "[train]") {
  const TemporaryDirectory dir;
  train(tiny_config(kDevices), dir / "run.h5");
  const Config frozen = tiny_config(with(kDevices, {"crossbar.update=none"}));
  CHECK_FALSE(train(frozen, dir / "frozen.h5").null.has_value());  // auto: nothing to freeze
  const H5Reader run(dir / "run.h5"), alone(dir / "frozen.h5");
  for (const std::string name : {"loss", "validation_loss", "gradient_norm", "residual"}) {
    CAPTURE(name);
    CHECK(column(run, "null/frozen_devices/train/" + name) == column(alone, "train/" + name));
  }
  const Matrix<float> table = initial(frozen, BlockParameter::tok);
  CHECK(stored(run, "null/frozen_devices/parameters/tok", table) == stored(alone, "parameters/tok", table));
  CHECK_FALSE(alone.has("null"));
}

TEST_CASE("time passes for frozen devices", "[train]") {
  const TemporaryDirectory dir;
  const Config config = tiny_config(with(kDevices, {"device.drift_exponent=0.05", "device.drift_start=1 s",
                                                    "device.drift_spread=0.02", "train.step_time=2 s"}));
  train(config, dir / "run.h5");
  const Matrix<float> aged = initial(config, 4, 2, 12);
  CHECK_FALSE(aged == initial(config, 4));
  CHECK(stored(H5Reader(dir / "run.h5"), "null/frozen_devices/parameters/Wh", aged) == aged);
}

TEST_CASE("auto freezes devices where training writes some, and the file says what was run", "[train]") {
  const auto null_of = [](const Settings& settings) { return resolved_null(tiny_config(settings)); };
  CHECK(null_of({}) == "off");
  CHECK(null_of({"device.model=soft_bounds"}) == "frozen_devices");
  CHECK(null_of({"device.preset=ecram"}) == "frozen_devices");
  CHECK(null_of({"device.preset=ecram", "train.null=off"}) == "off");
  CHECK(null_of({"device.preset=ecram", "crossbar.update=none"}) == "off");
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
                    Contains("this run itself has frozen devices"));
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
  const auto gain = [](const TrainSummary& run) { return run.null->gains.front().gain; };
  CAPTURE(live.null->verdict(), dead.null->verdict());
  REQUIRE(live.null->gains.front().name == "frozen_devices");
  CHECK(gain(live).significant());
  // It wins against frozen devices, and yet one answer to every sample is better.
  CHECK(live.null->learnt() == std::optional(false));
  CHECK_THAT(live.null->verdict(), Contains("a constant answer ends"));
  // The lane does not depend on what pulses do to the run's devices.
  const std::string loss = "null/frozen_devices/test_loss";
  CHECK(live.of(loss) == dead.of(loss));
  CHECK(gain(live).won == Approx(live.of(loss) - live.of("test_loss")).epsilon(1e-6));
  CHECK(std::abs(gain(dead).won) < 0.2 * gain(live).won);
}
