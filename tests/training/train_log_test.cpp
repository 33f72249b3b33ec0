// SPDX-License-Identifier: Apache-2.0
#include "training/train/train_log.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/stored_config.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Numbers = std::vector<double>;

/// One step of a training as it is logged.
void log_step(TrainLog& log, std::uint64_t step) {
  log.axis("train/step");
  log.add("train/step", static_cast<double>(step), "1", "");
  log.add("train/loss", 1.0 / static_cast<double>(step + 1), "nat", "");
  log.add_row("train/row", {static_cast<double>(step), -static_cast<double>(step)}, "1", "", "side");
  if (step >= 5) log.add("train/late", static_cast<double>(step), "1", "");
}

/// What the rule says of n entries: every 2^m-th, the least m for which there are no more than `limit`, and the last.
Numbers rows_of(std::uint64_t n, std::size_t limit) {
  std::uint64_t every = 1;
  const auto kept = [&] { return (n - 1) / every + 1; };
  while (kept() > limit || (kept() == limit && (n - 1) % every != 0)) every *= 2;
  Numbers rows;
  for (std::uint64_t k = 0; k < n; k += every) rows.push_back(static_cast<double>(k));
  if (rows.back() != static_cast<double>(n - 1)) rows.push_back(static_cast<double>(n - 1));
  return rows;
}

std::filesystem::path written(const TrainLog& log, const TemporaryDirectory& dir, const std::string& name) {
  H5Document document;
  log.write(document, "");
  document.write(dir / name, Overwrite::replace);
  return dir / name;
}

}  // namespace

TEST_CASE("a log has every 2^m-th of its entries and the last, never more than its limit", "[log]") {
  const std::size_t limit = GENERATE(2, 3, 8, 9);
  TrainLog log(limit);
  for (std::uint64_t step = 0; step < 300; ++step) {
    log_step(log, step);
    const Numbers& rows = log.values("train/step");
    CAPTURE(limit, step);
    REQUIRE(rows == rows_of(step + 1, limit));
    REQUIRE(rows.size() <= limit);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(log.values("train/loss")[i] == 1 / (rows[i] + 1));
      REQUIRE(log.values("train/row")[2 * i] == rows[i]);
      REQUIRE(log.values("train/row")[2 * i + 1] == -rows[i]);
      if (step < 5) continue;
      const double late = log.values("train/late")[i];
      REQUIRE((rows[i] < 5 ? std::isnan(late) : late == rows[i]));
    }
  }
}

TEST_CASE("a log that is written and restored at any entry goes on to the bits of an unbroken one", "[log]") {
  const TemporaryDirectory dir;
  TrainLog straight(8);
  for (std::uint64_t step = 0; step < 60; ++step) {
    log_step(straight, step);
    straight.event(step, "event " + std::to_string(step));
  }
  written(straight, dir, "straight.h5");
  for (std::uint64_t broken = 1; broken < 60; ++broken) {
    TrainLog first(8), second(8);
    for (std::uint64_t step = 0; step < 60; ++step) {
      if (step == broken) second.restore(H5Reader(written(first, dir, "part.h5")), "");
      TrainLog& log = step < broken ? first : second;
      log_step(log, step);
      log.event(step, "event " + std::to_string(step));
    }
    CAPTURE(broken);
    CHECK(differing_objects(dir / "straight.h5", written(second, dir, "part.h5")) == std::vector<std::string>{});
  }
  const H5Reader file(dir / "straight.h5");
  CHECK(file.integer_attribute("entries", "train/step") == 60);
  CHECK(file.integer_attribute("every", "train/step") == 16);
  CHECK(file.reals<double>("train/step") == Numbers{0, 16, 32, 48, 59});
  CHECK(file.reals<double>("events/step") == Numbers{0, 1, 2, 3, 56, 57, 58, 59});
  CHECK(file.integer_attribute("left_out", "events") == 52);
}

TEST_CASE("a log of a larger limit, or of none, is thinned where it is restored", "[log]") {
  const TemporaryDirectory dir;
  TrainLog log;
  for (std::uint64_t step = 0; step < 100; ++step) {
    log_step(log, step);
    log.event(step, "");
  }
  TrainLog small(8);
  small.restore(H5Reader(written(log, dir, "large.h5")), "");
  CHECK(small.values("train/step") == rows_of(100, 8));
  const H5Reader again(written(small, dir, "small.h5"));
  CHECK(again.reals<double>("events/step").size() == 8);
  CHECK(again.integer_attribute("left_out", "events") == 92);
}

TEST_CASE("rows that are not those of the entries a file names are the error of the file", "[log]") {
  const TemporaryDirectory dir;
  TrainLog log(8);
  for (std::uint64_t step = 0; step < 30; ++step) log_step(log, step);
  for (const auto& [entries, every] : {std::pair{99, 4}, std::pair{0, 1}, std::pair{30, 0}, std::pair{-1, -1}}) {
    H5Document document;
    log.write(document, "");
    document.attribute("entries", std::int64_t{entries}, "train/step");
    document.attribute("every", std::int64_t{every}, "train/step");
    document.write(dir / "edited.h5", Overwrite::replace);
    TrainLog other(8);
    CHECK_THROWS_WITH(other.restore(H5Reader(dir / "edited.h5"), ""), Contains("train/step"));
  }
  log.axis("train/other");
  CHECK_THROWS_WITH(log.add("train/loss", 1, "nat", ""), Contains("cannot over train/other"));
}

TEST_CASE("a training of many steps has a file that does not grow, whole counts, and resumes across the thinning",
          "[log]") {
  const TemporaryDirectory dir;
  // Steps of a microsecond's work; one of two is an outlier, whose skipping is an event.
  const Settings settings{"model.channels=2",          "model.heads=1",           "model.tokens=2",
                          "model.memories=2",          "train.batch=1",           "relaxation.free_steps=12",
                          "relaxation.nudged_steps=1", "train.evaluate_every=1",  "train.evaluation_batches=1",
                          "train.test_batches=1",      "train.skip_ratio=1.0001", "output.log_rows=64",
                          "train.steps=4000",          "train.learning_rate=1e-4"};
  const Config config = tiny_config(settings);
  std::uintmax_t early = 0;
  const auto watched = [&](const TrainProgress& p) { return p.done != 500; };
  const TrainSummary part = train(config, dir / "broken.h5", watched);
  early = std::filesystem::file_size(dir / "broken.h5");
  CHECK(part.done == 500);
  resume(dir / "broken.h5", nullptr, stop_after(1777));
  const TrainSummary rest = resume(dir / "broken.h5", nullptr);
  const TrainSummary whole = train(config, dir / "straight.h5");
  CHECK(differing_objects(dir / "straight.h5", dir / "broken.h5") == std::vector<std::string>{});
  CHECK(rest.of("skipped") == whole.of("skipped"));
  CHECK(whole.of("skipped") > 64);  // more than there are rows
  const H5Reader file(dir / "straight.h5");
  CHECK(file.reals<double>("train/loss").size() <= 64);
  CHECK(file.reals<double>("train/validation_loss").size() <= 64);
  CHECK(file.reals<double>("train/step").back() == 3999);
  CHECK(file.reals<double>("train/skipped_so_far").back() == whole.of("skipped"));
  CHECK(file.texts("events/text").size() == 64);
  // Eight times the steps: rows 33 to 64 of 8 bytes in each column, and another chunk's share.
  CHECK(std::filesystem::file_size(dir / "straight.h5") < 2 * early);
}

TEST_CASE("the time of an inference has the sampling of the amplifiers' offsets", "[train]") {
  const TemporaryDirectory dir;
  Config of_run = tiny_config();
  const auto time = [&](const std::string& zero) {
    const auto path = dir / (zero + ".h5");
    train(tiny_config({"hardware.level=mixed", "device.preset=ecram", "estimator=aep_transposed", "train.steps=1",
                       "nudge.below_noise=true", "beta=0.1", "crossbar.forward_offset=5 mV",
                       "crossbar.transposed_offset=5 mV", "circuit.auto_zero=" + zero}),
          path);
    const H5Reader file(path);
    if (zero == "true") of_run = stored_program_config(file);
    return file.reals<double>("train/inference_time").front();
  };
  // The phases take the same steps either way: without relaxation.tolerance none ends early.
  const double with = time("true"), without = time("false");
  const CircuitSpec circuit = circuit_spec(of_run);
  REQUIRE(circuit.amplifier_bandwidth_Hz > 0);
  CHECK(with - without == Approx(auto_zero_s(circuit, 5e-3)).epsilon(1e-9));
}
