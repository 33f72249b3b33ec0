// SPDX-License-Identifier: Apache-2.0
// Whether a loss still falls when training ends.
#include "training/train/plateau.hpp"

#include <cmath>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/train/train_json.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr std::size_t kSteps = 1000;

std::vector<double> steps() {
  std::vector<double> all(kSteps);
  for (std::size_t i = 0; i < kSteps; ++i) all[i] = static_cast<double>(i);
  return all;
}

/// Losses of a law of the step, with noise of this deviation whose neighbours correlate by `memory`.
template <class Law>
std::vector<double> curve(Law law, double deviation, double memory, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<double> all;
  double noise = normal(generator);
  for (const double step : steps()) {
    all.push_back(law(step) + deviation * noise);
    noise = memory * noise + std::sqrt(1 - memory * memory) * normal(generator);
  }
  return all;
}

Plateau plateau(const std::vector<double>& losses) {
  Plateau out = plateau_of(steps(), losses);
  out.of = "training";
  return out;
}

}  // namespace

TEST_CASE("a decay that is not finished still falls, by what it falls", "[train]") {
  // 2 + 3 exp(-t/500): at t = 900 the slope is -6 exp(-1.8) = -0.992 per 1000 steps; over the last fifth its mean is
  // 3 (exp(-2) - exp(-1.6))/200 = -0.998.
  const auto law = [](double t) { return 2 + 3 * std::exp(-t / 500); };
  const Plateau found = plateau(curve(law, 0.01, 0, 1));
  REQUIRE(found.reached.has_value());
  CHECK_FALSE(*found.reached);
  CHECK(found.interval.low < -0.99);
  CHECK(found.interval.high > -1.01);
  CHECK(found.slope_per_1000_steps == Approx(-0.998).margin(0.05));
  CHECK_THAT(found.text(), Contains("still falls by 0.1") && Contains("Unfinished: train longer"));
}

TEST_CASE("a flat loss is called falling in at most 5 % of curves, with neighbours that correlate too", "[train]") {
  // Two-sided 95 %: 2.5 % of white noise are called falling. Blocks of 20 steps are long beside the memory of AR(1)
  // noise, -1/ln 0.5 = 1.4 steps and 4.5 of 0.8: of 0.8 neighbouring means correlate by 0.1. Of 1000 curves at 2.5 %
  // the standard deviation is 0.5 %.
  for (const double memory : {0.0, 0.5, 0.8}) {
    int false_alarms = 0, rising = 0;
    for (unsigned seed = 0; seed < 1000; ++seed) {
      const Plateau found = plateau(curve([](double) { return 2.0; }, 0.1, memory, seed));
      false_alarms += found.interval.high < 0 ? 1 : 0;
      rising += found.rises() ? 1 : 0;
    }
    CAPTURE(memory, false_alarms, rising);
    CHECK(false_alarms <= 50);
    CHECK(rising <= 50);
  }
}

TEST_CASE("a loss that has settled has stopped falling, one hidden by scatter is not known to", "[train]") {
  const auto flat = [](double) { return 2.0; };
  const Plateau settled = plateau(curve(flat, 0.001, 0, 1));
  CHECK(settled.reached == std::optional(true));
  CHECK_THAT(settled.text(), Contains("has stopped falling"));
  const Plateau hidden = plateau(curve(flat, 2, 0, 1));
  CHECK_FALSE(hidden.reached.has_value());
  CHECK_THAT(hidden.text(), Contains("no significant trend") && Contains("Unfinished"));
}

TEST_CASE("a slow training that falls as it did all the time has not stopped falling", "[train]") {
  // The last fifth takes a fifth of the fall, 0.0034 of 0.017: 0.6 % of the loss.
  const auto slow = [](double t) { return 0.5425 - 0.017 * t / 1000; };
  const Plateau found = plateau(curve(slow, 0.0001, 0, 1));
  CHECK(found.reached == std::optional(false));
  CHECK_THAT(found.text(), Contains("still falls"));
  // As slow a fall after one of 2: less than 1 % of both.
  const auto late = [](double t) { return 0.5425 - 0.017 * t / 1000 + 2 * std::exp(-t / 20); };
  CHECK(plateau(curve(late, 0.0001, 0, 1)).reached == std::optional(true));
}

TEST_CASE("a loss that goes to 0 has stopped falling once it has little left to lose", "[train]") {
  // 3 exp(-t/50): from t = 800 of 1000 on 3e-7 is left, 1e-7 of the fall; at a tenth of the rate 0.61 is left and falls to 0.41.
  const auto fast = [](double t) { return 3 * std::exp(-t / 50); };
  const auto slow = [](double t) { return 3 * std::exp(-t / 500); };
  CHECK(plateau(curve(fast, 0, 0, 1)).reached == std::optional(true));
  CHECK(plateau(curve(slow, 0, 0, 1)).reached == std::optional(false));
}

TEST_CASE("a loss that stops while its rate goes to 0 is not told to have nothing left", "[train]") {
  for (const bool cosine : {true, false}) {
    TrainLog log(2 * kSteps);
    for (std::size_t i = 0; i < kSteps; ++i) {
      log.axis("train/step");
      log.add("train/step", static_cast<double>(i), "1", "");
      log.add("train/loss", 2.0, "nat", "");
      log.add("train/learning_rate", cosine ? 1 - static_cast<double>(i) / kSteps : 1.0, "1", "");
    }
    const Plateau found = plateau_of(log);
    CHECK(found.reached == std::optional(true));
    CHECK(found.rate_fell == cosine);
    CHECK_THAT(found.text(), cosine ? Contains("is open") : Contains("a fifth more steps"));
  }
}

TEST_CASE("a rising loss is said to rise", "[train]") {
  const Plateau found = plateau(curve([](double t) { return 2 + 1e-3 * t; }, 0.01, 0, 1));
  CHECK(found.rises());
  CHECK(found.interval.low < 1);
  CHECK(found.interval.high > 1);
  CHECK_THAT(found.text(), Contains("rises by 0.") && Contains("past its minimum"));
}

TEST_CASE("fewer than ten losses tell nothing", "[train]") {
  const std::vector<double> few{0, 10, 20, 30, 40, 50}, losses{5, 4, 3, 2, 1, 0};
  const Plateau found = plateau_of(few, losses);
  CHECK(std::isnan(found.slope_per_1000_steps));
  CHECK_FALSE(found.reached.has_value());
  CHECK_THAT(found.text(), Contains("too few"));
}

TEST_CASE("a run says whether its loss still falls: summary, file and JSON", "[train]") {
  const TemporaryDirectory dir;
  const TrainSummary run = train(tiny_config({"train.steps=100"}), dir / "run.h5");
  REQUIRE(run.plateau.has_value());
  CHECK(run.plateau->of == "training");  // three evaluations in the last fifth
  const H5Reader file(dir / "run.h5");
  CHECK(file.real_attribute("plateau_slope", "train") == run.plateau->slope_per_1000_steps);
  CHECK(file.text_attribute("plateau_text", "train") == run.plateau->text());
  const auto json = json_of(run)["plateau"];
  CHECK(json["slope_per_1000_steps"].get<double>() == run.plateau->slope_per_1000_steps);
  CHECK(json["low"].get<double>() == run.plateau->interval.low);
  CHECK(json["reached"].is_null() == !run.plateau->reached.has_value());
  // Stopped before its end it has no last fifth yet.
  CHECK_FALSE(train(tiny_config(), std::nullopt, stop_after(20)).plateau.has_value());
}
