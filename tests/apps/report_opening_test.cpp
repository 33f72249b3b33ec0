// SPDX-License-Identifier: Apache-2.0
// What a report says first, and what it ranks.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "apps/report/report.hpp"
#include "apps/report/sections.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/io/run_record.hpp"
#include "tests/apps/synthetic_runs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using namespace nudge::report;

namespace {

const double not_measured = std::nan("");

bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

/// Two keys × two seeds; the loss is 2 + 0.5 [noise = 0.1] + 0.01 [bits = 4], and seed 2 lies 0.2 higher everywhere.
Table two_keys() {
  Table points;
  points.keys = {"noise", "bits"};
  points.results = {"validation_loss"};
  points.units = {{"validation_loss", "nat"}};
  for (const double noise : {0.0, 0.1}) {
    for (const double bits : {8.0, 4.0}) {
      for (const double seed : {1.0, 2.0}) {
        points.numbers["noise"].push_back(noise);
        points.numbers["bits"].push_back(bits);
        points.numbers["seed"].push_back(seed);
        const double wobble = seed == 2 ? 0.002 * (noise + 0.01 * bits) : 0;  // so that differences have a spread
        points.numbers["validation_loss"].push_back(2 + (noise > 0 ? 0.5 : 0) + (bits == 4 ? 0.01 : 0) +
                                                    0.2 * (seed - 1) + wobble);
        points.texts["status"].push_back("ok");
        ++points.rows;
      }
    }
  }
  return points;
}

H5Document sweep_file(const std::vector<std::int64_t>& seeds, const std::string& config) {
  H5Document file;
  add_run_record(file, {"sweep", config, 1, "float", 2, "2025-01-31T12:34:56Z", 300});
  std::vector<double> noise, loss;
  std::vector<std::int64_t> seed;
  for (const double v : {0.0, 0.01}) {
    for (const std::int64_t s : seeds) {
      noise.push_back(v);
      seed.push_back(s);
      loss.push_back(2 + 30 * v + 0.01 * static_cast<double>(s) * (1 + v));
    }
  }
  file.column("points/device.read_noise", noise, {});
  file.column("points/seed", seed, {});
  file.column("points/validation_loss", loss, {"nat", "", {}});
  file.column("points/skipped", std::vector<double>(loss.size(), 3.0), {"1", "", {}});
  file.attribute("keys", std::string("device.read_noise"), "points");
  file.attribute("results", std::string("validation_loss, skipped"), "points");
  return file;
}

}  // namespace

TEST_CASE("effects are paired by seed and by everything else, and ranked", "[report]") {
  Table points = two_keys();
  const auto effects = headline_effects(points).front();
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].key == "noise");
  CHECK(effects[0].from == "0");
  CHECK(effects[0].to == "0.1");
  CHECK(effects[0].difference.seeds == 2);
  // Per seed the mean over both bits: 0.5 exactly for seed 1, 0.5 + 0.002·0.1 for seed 2.
  CHECK(effects[0].difference.mean == Approx(0.5001).epsilon(1e-9));
  CHECK(effects[0].difference.comparisons == 2);
  CHECK(effects[0].difference.certain());  // t(1 − 0.05/4, 1) = 25.5 times 1e-4
  CHECK(effects[1].key == "bits");
  CHECK(effects[1].difference.mean == Approx(0.01 - 0.002 * 0.04 / 2).epsilon(1e-9));
  // A result that was not measured takes its pair with it: the seed's mean is then over the other pair alone.
  points.numbers["validation_loss"][1] = not_measured;  // noise 0, bits 8, seed 2
  CHECK(headline_effects(points).front()[0].difference.mean == Approx(0.5001).epsilon(1e-9));
  // A run that failed does not: its seed is counted as lost, there is no mean of the others, and the effect comes first.
  Table failed = two_keys();
  failed.texts["status"].assign(failed.rows, "ok");
  const auto& bits = failed.numbers["bits"];
  std::size_t broken = 0;
  while (!(bits[broken] == 4 && failed.numbers["seed"][broken] == 2 && failed.numbers["noise"][broken] == 0)) ++broken;
  failed.texts["status"][broken] = "it does not settle";
  failed.results = {"validation_loss"};
  const auto worst = headline_effects(ranked_failures(failed)).front();
  REQUIRE(worst.size() == 2);
  CHECK(worst[0].difference.failed == 1);
  CHECK(std::isnan(worst[0].difference.mean));
  CHECK_FALSE(worst[0].difference.certain());  // 2 seeds: no sign test can say so
  const auto by_key = [&](const std::string& key) { return worst[worst[0].key == key ? 0 : 1]; };
  CHECK((by_key("bits").difference.lost == 2 && by_key("bits").difference.seeds == 2));
  CHECK(by_key("noise").difference.won == 1);  // the seed whose start failed
  points.scattered = true;
  CHECK(headline_effects(points).front().empty());
}

TEST_CASE("rank correlation is 1 for any rising curve, and shares the rank of ties", "[report]") {
  CHECK(rank_correlation({1, 2, 3, 10}, {0.1, 0.2, 50, 51}) == Approx(1));
  CHECK(rank_correlation({1, 2, 3}, {3, 2, 1}) == Approx(-1));
  CHECK(rank_correlation({1, 2, not_measured, 3}, {1, 2, 9, 3}) == Approx(1));
  // x ranks 0, 1, 2, 3; y ranks 0.5, 0.5, 2, 3: covariance sum 4.5, variances 5 and 4.5.
  CHECK(rank_correlation({1, 2, 3, 4}, {1, 1, 2, 3}) == Approx(4.5 / std::sqrt(5 * 4.5)));
  CHECK(std::isnan(rank_correlation({1, 2}, {1, 2})));
  CHECK(std::isnan(rank_correlation({1, 1, 1}, {1, 2, 3})));
}

TEST_CASE("names that a result goes with are told from names that it does not", "[report]") {
  // Ranks 0, 1 and 2, 3: between 4 of 5, so ε² = 1 − (1/5)(3/2) = 0.7.
  CHECK(rank_ratio({"a", "a", "b", "b"}, {1, 2, 10, 20}) == Approx(std::sqrt(0.7)));
  CHECK(rank_ratio({"a", "b", "b", "a"}, {1, 2, 10, 20}) == 0);  // less than chance
  CHECK(rank_ratio({"a", "a", "c", "b", "b"}, {1, 2, not_measured, 10, 20}) == Approx(std::sqrt(0.7)));
  CHECK(std::isnan(rank_ratio({"a", "a", "a"}, {1, 2, 3})));
  CHECK(std::isnan(rank_ratio({"a", "b", "c"}, {1, 2, 3})));
  CHECK(std::isnan(rank_ratio({"a", "b"}, {1, 2})));
  CHECK(std::isnan(rank_ratio({"a", "a", "b", "b"}, {1, 1, 1, 1})));
}

TEST_CASE("the verdict on a sweep names the key that matters and does not claim what the seeds do not show",
          "[report]") {
  const Opening clear = sweep_opening(two_keys(), std::nullopt);
  CHECK(clear.title == "noise = 0.1 raises the validation loss by 0.5 nat");
  CHECK(has(clear.sentence, "difference +0.5 (mean of 2 seeds, 95 % interval [+0.49"));
  CHECK(
      has(clear.sentence, "No other value matters more: the validation loss is 2.1051 nat at 0 and 2.6052 nat at 0.1"));
  CHECK(has(clear.sentence, "for all 2 effects together"));
  CHECK(has(clear.sentence, "bits = 4 +0.00996"));
  CHECK(has(clear.sentence, "Sweep of noise, bits: single runs from 2.0000 nat to 2.7103 nat."));
  Table noise = two_keys();
  for (std::size_t i = 0; i < noise.rows; ++i) {  // the same mean differences, but seeds that disagree
    const double sign = noise.numbers["seed"][i] == 1 ? 1 : -1;
    noise.numbers["validation_loss"][i] = 2 + sign * noise.numbers["noise"][i];
  }
  const Opening open = sweep_opening(noise, std::nullopt);
  CHECK(open.title == "No value changes the validation loss significantly");
  CHECK(has(open.sentence, "2 seeds cannot resolve less than "));
  // An accuracy of few samples scatters; the loss of the same runs does not, and both are one family of 4 effects.
  Table coarse = two_keys();
  coarse.results = {"validation_accuracy", "validation_loss"};
  coarse.numbers["validation_accuracy"] = noise.numbers["validation_loss"];
  const Opening finer = sweep_opening(coarse, std::nullopt);
  CHECK(finer.title == "noise = 0.1 raises the validation loss by 0.5 nat");
  CHECK(has(finer.sentence, "for all 4 effects together. No value changes the validation accuracy significantly"));
  Table samples = two_keys();
  samples.results = {"test_rmse"};
  samples.numbers["test_rmse"] = samples.numbers["validation_loss"];  // 2 to 2.71
  const ReferenceScores references{"rmse", "1", {{"linear", "validation", 0, 9.0}, {"linear", "test", 0, 1.9}}};
  CHECK(has(sweep_opening(samples, std::nullopt, references).sentence,
            fmt::format("{} of {} runs ended above the error of a linear model", samples.rows, samples.rows)));
  CHECK_FALSE(has(sweep_opening(noise, std::nullopt, references).sentence, "linear model"));  // another metric
  Table failed = two_keys();
  failed.texts["status"][0] = "stopped: 12 steps";
  const TextEntropy line{4.5, 2.4, 2.2};
  const std::string sentence = sweep_opening(failed, line).sentence;
  CHECK(has(sentence, "1 of 8 runs failed"));
  CHECK(has(sentence, "4 of 8 runs ended no better than letter frequencies (unigram, 2.4000 nat)"));
}

TEST_CASE("a dot is hollow where its interval holds 0, and differences of accuracies are in points", "[report]") {
  Table points = two_keys();
  points.results = {"validation_accuracy"};
  points.numbers["validation_accuracy"] = points.numbers["validation_loss"];
  const std::string figure = effects_figure(points);
  const auto counted = [&](const std::string& part) {
    int found = 0;
    for (auto at = figure.find(part); at != std::string::npos; at = figure.find(part, at + 1)) ++found;
    return found;
  };
  CHECK(counted("mark f0") == 2);  // both effects are sure
  CHECK(counted("mark hollow") == 0);
  CHECK(has(figure, "difference of the validation accuracy (points), right is better"));
  CHECK(has(figure, "noise = 0.1,50.01"));  // of the CSV: 0.5001 as points
  for (std::size_t i = 0; i < points.rows; ++i) {
    const double sign = points.numbers["seed"][i] == 1 ? 1 : -1;
    points.numbers["validation_accuracy"][i] = 0.5 + 0.1 * sign * points.numbers["noise"][i];
  }
  CHECK(has(effects_figure(points), "mark hollow s0"));
}

TEST_CASE("of random points that nothing matters in no key is named, and one that matters is", "[report]") {
  // 200 sweeps of 12 points, 4 keys and 2 seeds, all independent: 10 errors are expected at the level of 5 %, sd 3.1; 4 sd.
  std::uint64_t state = 5;
  const auto uniform = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1.0p-53;
  };
  int named = 0, found = 0;
  for (int sweep = 0; sweep < 200; ++sweep) {
    Table points;
    points.keys = {"a", "b", "c", "d"};
    points.results = {"validation_loss"};
    points.scattered = true;
    for (int point = 0; point < 12; ++point) {
      std::vector<double> place;
      for (int k = 0; k < 4; ++k) place.push_back(uniform());
      for (const double seed : {1.0, 2.0}) {
        for (std::size_t k = 0; k < 4; ++k) points.numbers[points.keys[k]].push_back(place[k]);
        points.numbers["seed"].push_back(seed);
        points.numbers["validation_loss"].push_back(1 + uniform());
        ++points.rows;
      }
    }
    named += has(sweep_opening(points, std::nullopt).title, "No key is correlated with") ? 0 : 1;
    if (sweep >= 20) continue;  // a loss that is four times as much the key's as chance's
    for (std::size_t i = 0; i < points.rows; ++i) points.numbers["validation_loss"][i] += 4 * points.numbers["c"][i];
    found += has(sweep_opening(points, std::nullopt).title, "correlates most strongly with c") ? 1 : 0;
  }
  CHECK(named <= 22);
  CHECK(found == 20);
}

TEST_CASE("runs that failed are told apart from numbers that nobody measured", "[report]") {
  Table points;
  points.keys = {"noise"};
  points.results = {"validation_loss", "skipped", "energy"};
  points.rows = 3;
  points.numbers = {{"noise", {0, 0.1, 0.2}},
                    {"validation_loss", {2, INFINITY, 2.5}},
                    {"skipped", {0, INFINITY, 0}},
                    {"energy", {1, INFINITY, not_measured}}};
  const PointFigures figures = point_figures(points, std::nullopt);
  CHECK(has(figures.others, "The same in every run that did not fail: skipped 0, energy 1 or not known."));
  CHECK(has(figures.first, "A marker for each run. A run that failed has none."));
}

TEST_CASE("sweep files of one config are pooled over their seeds, others are not", "[report]") {
  const test::TemporaryDirectory dir;
  const std::string config = "seed = 1\nthreads = 2\n\n[sweep]\nseeds = [1, 2]\n\n[train]\nsteps = 10\n";
  sweep_file({1, 2}, config).write(dir / "a.h5", Overwrite::must_not_exist);
  sweep_file({3, 4}, "seed = 1\nthreads = 1\n\n[sweep]\nseeds = [3, 4]\n\n[train]\nsteps = 10\n")
      .write(dir / "b.h5", Overwrite::must_not_exist);
  sweep_file({3, 4}, "seed = 1\nthreads = 1\n\n[sweep]\nseeds = [3, 4]\n\n[train]\nsteps = 20\n")
      .write(dir / "c.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "a.h5", dir / "b.h5"});
  CHECK(has(page, "mean of 4 seeds"));
  CHECK(has(page, "a.h5 + b.h5"));
  CHECK(has(page, "The same in every run: skipped 3."));
  CHECK_FALSE(has(page, "Skipped against"));
  const std::string apart = report_html({dir / "a.h5", dir / "c.h5"});
  CHECK(has(apart, "mean of 2 seeds"));
  CHECK(has(apart, "2 sweeps"));
}

TEST_CASE("the verdict on a training run says how far it is from the reference", "[report]") {
  const test::TemporaryDirectory dir;
  test::synthetic_training(600, true).write(dir / "train.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "train.h5"});
  // 2.19 + 0.04 and 2.23 + 0.04, and what is left of the transient after 550 steps (e^(-550/150) of 1.98 and 1.94).
  CHECK(has(page, "below backprop"));
  CHECK(has(page, "The lowest cosine with the exact gradient was"));
  CHECK(has(page, "1 of 600 steps were skipped"));
  CHECK(page.find("class=\"verdict\"") < page.find("<figure>"));
}

TEST_CASE("a figure holds its numbers as CSV", "[report]") {
  Chart chart;
  chart.x_label = "step, n";
  chart.series.push_back({"a \"b\"", {1, 2}, {0.5, not_measured}, {0.4, not_measured}, {0.6, not_measured}, 0});
  chart.series.push_back({"c", {2, 3}, {7, 8}, {}, {}, 1});
  CHECK(figure_csv(chart) ==
        "\"step, n\",\"a \"\"b\"\"\",\"a \"\"b\"\" low\",\"a \"\"b\"\" high\",c\n1,0.5,0.4,0.6,\n2,,,,7\n3,,,,8\n");
  DotPlot plot;
  plot.x_label = "cosine";
  plot.rows = {"Wq", "Wk"};
  plot.series.push_back({"", {0.5, not_measured}, {}, {}, 0});
  CHECK(figure_csv(plot) == "name,cosine\nWq,0.5\nWk,\n");
}

TEST_CASE("two hundred runs on one page stay below two megabytes", "[report]") {
  const test::TemporaryDirectory dir;
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 200; ++i) {
    files.push_back(dir / ("run" + std::to_string(i) + ".h5"));
    test::synthetic_training(200 + i, false).write(files.back(), Overwrite::must_not_exist);
  }
  CHECK(report_html(files).size() < 2'000'000);
}
