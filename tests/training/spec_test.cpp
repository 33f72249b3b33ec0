// SPDX-License-Identifier: Apache-2.0
// Specifications: requirements against known laws, the floor of test samples, axes of a config, wrong input.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"
#include "tests/support/catch.hpp"
#include "training/spec/spec.hpp"
#include "training/spec/spec_result.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Trials of an exact law of the excess, as a specification would make them; the error is `half` to both sides.
std::vector<SpecTrial> trials_of(const SpecAxis& axis, const std::function<double(double)>& excess, int bisections,
                                 double half = 1e-9) {
  std::vector<SpecTrial> trials;
  while (const auto u = next_position(axis, trials, bisections)) {
    const double mean = excess(axis.value(*u));
    trials.push_back({*u, {mean, mean - half, mean + half}});
    REQUIRE(trials.size() < 40);
  }
  return trials;
}

SpecAxis logarithmic(double best, double worst) { return {"k", {"k"}, best, worst, true}; }

SpecAxis bits() {
  SpecAxis axis{"k", {"k"}, 12, 1, false, true};
  axis.zero_is_best = true;
  return axis;
}

const char* const kConfig = R"(
estimator = "ep"
beta = 0.5
[network]
kind = "hopfield"
[task]
kind = "classification"
[data]
validation_fraction = 0.1
test_fraction = 0.2
[hopfield]
hidden = [8]
[relaxation]
schedule = "sweep"
step = 1.0
[device]
preset = "ecram"
[crossbar]
forward_adc_bits = 8
row_resistance = "2 Ohm"
column_resistance = "3 Ohm"
)";

SpecAxes axes_of(const std::vector<std::string>& settings) { return spec_axes({"a.toml", kConfig, settings}); }

const SpecAxis& axis_named(const SpecAxes& found, const std::string& name) {
  const auto at = std::find_if(found.axes.begin(), found.axes.end(), [&](const auto& one) { return one.name == name; });
  REQUIRE(at != found.axes.end());
  return *at;
}

}  // namespace

TEST_CASE("a requirement is where a known law reaches the bound", "[spec]") {
  // Loss a v² against the bound b: v* = sqrt(b/a).
  const double a = 3, b = 0.01, exact = std::sqrt(b / a);
  const SpecAxis axis = logarithmic(0, 1);
  const auto law = [&](double v) { return a * v * v - b; };
  for (const int bisections : {2, 4, 8}) {
    const auto trials = trials_of(axis, law, bisections);
    const SpecLimit found = spec_limit(axis, trials);
    REQUIRE(found.outcome == SpecOutcome::found);
    CHECK(found.good <= exact);
    CHECK(exact <= found.bad);
    // The first bracket is all three decades and the value 0; each bisection halves it. Values have four digits: 1e-3.
    const double decades = 3 * std::pow(0.5, bisections);
    CHECK(found.bad / std::max(found.good, 1e-3) <= std::pow(10, decades) * 1.001);
    CHECK(std::abs(std::log10(found.value / exact)) <= decades + 1e-3);
    CHECK(static_cast<int>(trials.size()) == bisections + 2);
  }
  // A law that is linear in the position is met to the digits of a value, whatever the number of bisections.
  const SpecAxis even{"k", {"k"}, 0, 2};
  CHECK(spec_limit(even, trials_of(
                             even, [](double v) { return v - 0.7; }, 1))
            .value == Approx(0.7).epsilon(1e-3));
  // Smaller is worse: noise of a capacitance, b/v. v* = b/bound, and the interval keeps its sides.
  const SpecAxis falling = logarithmic(1e-11, 1e-16);
  const SpecLimit least = spec_limit(falling, trials_of(
                                                  falling, [](double v) { return 1e-15 / v - 0.1; }, 9));
  CHECK(least.value == Approx(1e-14).epsilon(0.02));  // 5 decades over 2^9: a bracket of 2.3 %
  CHECK((least.good >= 1e-14 && least.bad <= 1e-14));
}

TEST_CASE("of whole numbers the requirement is the worst that holds", "[spec]") {
  // Quantization noise c 4^-B below b: B* = ceil(log4(c/b)).
  const SpecAxis axis = bits();
  for (const double c : {0.3, 3.0, 30.0, 300.0}) {
    const double b = 0.01;
    const SpecLimit found = spec_limit(axis, trials_of(
                                                 axis, [&](double v) { return c * std::pow(4, -v) - b; }, 4));
    INFO(c);
    REQUIRE(found.outcome == SpecOutcome::found);
    CHECK(found.value == std::ceil(std::log(c / b) / std::log(4.0)));
    CHECK((found.good == found.value && found.bad == found.value - 1));
  }
  SpecAxis design = bits();
  design.own = 8;
  SpecLimit five{SpecOutcome::found, 5, 6, 4};
  CHECK(five.margin(design) == Approx(3));
  CHECK(five.verdict(design) == SpecLimit::Verdict::met);
  design.own = 4;
  CHECK(five.verdict(design) == SpecLimit::Verdict::not_met);
  design.own = 5;
  CHECK(five.verdict(design) == SpecLimit::Verdict::open);
  design.own = 0;  // ideal converters
  CHECK(!five.margin(design));
  CHECK(five.verdict(design) == SpecLimit::Verdict::met);
}

TEST_CASE("no number is invented where there is no requirement", "[spec]") {
  const SpecAxis axis = logarithmic(0, 1);
  // A key that changes nothing: the loss stays 0, below the bound.
  const auto null = trials_of(
      axis, [](double) { return -0.01; }, 6);
  CHECK(null.size() == 1);  // its worst value decides
  const SpecLimit beyond = spec_limit(axis, null);
  CHECK(beyond.outcome == SpecOutcome::beyond);
  CHECK((std::isnan(beyond.value) && std::isnan(beyond.bad) && !beyond.margin(axis)));
  // Above the bound at the best value, for certain and not.
  const auto lost = trials_of(
      axis, [](double v) { return 0.02 + v; }, 6);
  CHECK(lost.size() == 2);
  CHECK(spec_limit(axis, lost).outcome == SpecOutcome::fails);
  CHECK(spec_limit(axis, lost).verdict(axis) == SpecLimit::Verdict::not_met);
  const auto unsure = trials_of(
      axis, [](double v) { return 0.02 + v; }, 6, 0.1);
  CHECK(spec_limit(axis, unsure).outcome == SpecOutcome::open);
  CHECK(std::isnan(spec_limit(axis, unsure).value));
  // Above the bound, but nowhere for certain: no value is named, and none is said to be good enough.
  const SpecLimit scattered = spec_limit(axis, trials_of(
                                                   axis, [](double v) { return v - 0.5; }, 6, 1.0));
  CHECK(scattered.outcome == SpecOutcome::open);
  CHECK((std::isnan(scattered.value) && std::isnan(scattered.bad)));
}

TEST_CASE("few test samples are never certain", "[spec]") {
  const double n = 359;
  // Two seeds that lose one picture of 359 each: Student's t alone has no width.
  const std::vector<double> one = {1 / n, 1 / n};
  CHECK(paired_test(one, 0.97, 0, 1).low > 0);
  const SpecTest test = paired_test(one, 0.97, n, 1);
  CHECK(test.low < 0);
  // By hand: a = (0.97·359 + 2)/363, and 1.96 √(a (1 − a)/363).
  const double a = (0.97 * n + 2) / (n + 4), half = 1.959964 * std::sqrt(a * (1 - a) / (n + 4));
  CHECK(test.high - test.mean == Approx(half).epsilon(1e-5));  // the quantile has 1e-6
  CHECK(paired_test({{0, 0, 0}}, 1, n, 1).high > 0);           // also where every answer is right
  CHECK(paired_test(one, 0.97, n, 20).low < test.low);         // of many together
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(paired_test({{0.1, inf}}, 0.9, n, 1).mean == inf);
  CHECK(paired_test({{0.1, inf}}, 0.9, n, 1).low == -inf);  // one of two failed
  CHECK(paired_test({{inf, inf}}, 0.9, n, 1).low == inf);
  CHECK(paired_test({{0.5}}, 0.9, n, 1).low == -inf);  // one seed
}

TEST_CASE("equal accuracies are called different no more often than stated", "[spec]") {
  // 5 seeds share 359 test samples. Half of the errors of two systems of 95 % are the same samples, the rest are of one
  // of them. So d has the variance 2·0.025/359 = 0.95·0.05/359 · 1.05, and at most 5 % of the tests are certain, were
  // it not for 2.5 % of width. Of 4000 tests 5.6 % ± 3 · 0.36 %: below 6.7 %.
  std::mt19937 random(7);
  std::binomial_distribution<int> own(359, 0.025);
  int certain = 0;
  constexpr int tests = 4000;
  for (int t = 0; t < tests; ++t) {
    const double d = (own(random) - own(random)) / 359.0;
    const SpecTest test = paired_test(std::vector<double>(5, d), 0.95, 359, 1);
    certain += test.low > 0 || test.high < 0 ? 1 : 0;
  }
  CHECK(certain < 0.067 * tests);
  CHECK(certain > 0);  // it can be certain
}

TEST_CASE("axes follow the config", "[spec]") {
  const SpecAxes all = axes_of({});
  CHECK(axis_named(all, "crossbar.forward_adc_bits").own == 8);
  CHECK(axis_named(all, "crossbar.forward_dac_bits").own_is_ideal());
  // Wires of two values move one by one, and one key has one axis.
  CHECK(axis_named(all, "crossbar.row_resistance").keys.size() == 1);
  CHECK(axes_of({"crossbar.column_resistance=2 Ohm", "spec.keys=['crossbar.column_resistance']"}).axes[0].keys.size() ==
        2);
  const SpecAxis& down = axis_named(all, "beta (down)");
  CHECK((down.best == 0.5 && down.worst < 0.5 && down.own == 0.5));
  CHECK_THAT(fmt::format("{}", fmt::join(all.left_out, "; ")), Contains("device.selector_resistance"));
  for (const SpecAxis& axis : all.axes) {
    INFO(axis.name);
    CHECK((axis.value(0) == axis.best && axis.value(1) == axis.worst));
    for (const double u : {0.25, 0.5, 0.75}) {
      const double value = axis.value(u);
      CHECK(axis.value(axis.position(value)) == value);
      CHECK(axis.position(value) == Approx(u).margin(axis.whole ? 0.06 : 1e-4));  // rounding to whole or four digits
    }
  }
  const SpecAxes given = axes_of({"spec.range.device.g_max=[\"50 uS\", \"5 uS\"]", "spec.keys=['device.read_noise']"});
  REQUIRE(given.axes.size() == 2);
  CHECK((given.axes[0].name == "device.g_max" && given.axes[0].worst == 5e-6));
}

TEST_CASE("wrong input of a specification names the key", "[spec]") {
  const auto error = [](const std::vector<std::string>& settings) {
    try {
      spec_plan({"a.toml", kConfig, settings});
    } catch (const UserError& wrong) {
      return std::string(wrong.what());
    }
    return std::string();
  };
  CHECK_THAT(error({"spec.keys=['device.read_nois']"}), Contains("spec.keys") && Contains("device.read_noise"));
  CHECK_THAT(error({"spec.keys=['train.batch']"}), Contains("[spec.range] \"train.batch\" = [best, worst]"));
  CHECK_THAT(error({"spec.keys=['device.selector_resistance']"}), Contains("does not apply"));
  CHECK_THAT(error({"spec.range.device.read_noise=[0]"}),
             Contains("spec.range.device.read_noise") && Contains("two values"));
  CHECK_THAT(error({"spec.range.device.read_noise=[1, 1]"}), Contains("two different values"));
  CHECK_THAT(error({"spec.range.estimator=['ep', 'aep']"}), Contains("values are numbers"));
  CHECK_THAT(error({"spec.range.device.read_noise=[0, -1]"}), Contains("device.read_noise"));
  CHECK_THAT(error({"spec.seeds=[1]"}), Contains("spec.seeds"));
  CHECK_THAT(error({"spec.runs=10"}), Contains("spec.runs = 10") && Contains("trainings are needed"));
  CHECK_THAT(error({"data.test_fraction=0"}), Contains("data.test_fraction"));
  CHECK_THAT(error({"device.preset=", "device.model=digital"}), Contains("device.model"));
  CHECK(error({}).empty());
}

TEST_CASE("a plan states the most runs that it may take", "[spec]") {
  const SpecPlan plan =
      spec_plan({"a.toml",
                 kConfig,
                 {"spec.keys=['device.read_noise']", "spec.seeds=[1, 2]", "spec.bisections=3", "spec.designs=5"}});
  // (methods + clean + design) + alone: worst, 3 bisections + together: worst, best, 3 bisections + 5 designs.
  CHECK(plan.most_runs() == 2 * (plan.methods.size() + 2 + 4 + 5 + 5));
  CHECK(plan.methods.front().name == "exact numbers");
  CHECK(plan.methods.size() >= 2);
}

TEST_CASE("a design dominates another that is nowhere better", "[spec]") {
  const double nan = std::nan("");
  CHECK(dominates({1, 2, 3}, {1, 2, 4}));
  CHECK(!dominates({1, 2, 3}, {1, 2, 3}));
  CHECK(!dominates({1, 5, 3}, {2, 4, 4}));
  CHECK(dominates({1, nan}, {2, nan}));
  CHECK(!dominates({1, nan}, {2, 3}));
}

TEST_CASE("the front names a design once, however often it was trained", "[spec]") {
  SpecRun run{spec_plan({"a.toml", kConfig, {"spec.keys=['crossbar.forward_adc_bits']", "spec.seeds=[1, 2, 3]"}}), {}};
  REQUIRE(run.plan.columns == std::vector<std::string>{"crossbar.forward_adc_bits"});
  run.sweep.keys = {"run", run.plan.columns[0]};
  run.sweep.metrics = {{run.plan.metric, "1", ""}, {"test_samples", "1", ""}};
  for (const char* cost : {"inference_energy", "step_energy", "latency", "area"}) {
    run.sweep.metrics.push_back({cost, "J", ""});
  }
  const auto trained = [&](const std::string& label, const std::string& bits, double score, double cost) {
    for (const std::int64_t seed : {1, 2, 3}) {
      run.sweep.points.push_back(
          {{label, bits}, {std::nan(""), std::stod(bits)}, seed, "ok", {score, 359, cost, cost, 1, cost}});
    }
  };
  for (const Entrant& method : run.plan.methods) trained(method.name, "8", 0.1, 1);
  for (SweepPoint& point : run.sweep.points) {
    if (point.values[0] == run.plan.methods.front().name) point.metrics[0] = 0.95;
  }
  trained(kCleanRun, "12", 0.94, 20);
  trained(kDesignRun, "8", 0.93, 10);
  trained(together_label(run.plan.found.axes[0]), "6", 0.92, 8);
  trained(kScreenRun, "6", 0.92, 8);     // what the bisection tried
  trained(kScreenRun, "8.0", 0.93, 10);  // the config, written otherwise
  trained(kScreenRun, "5", 0.91, 7);
  const SpecSheet sheet = spec_sheet(run);
  REQUIRE(sheet.unknown.empty());
  REQUIRE(sheet.designs.size() == 3);
  CHECK(sheet.designs[0].settings.empty());
  CHECK(sheet.designs[1].settings == std::vector<std::string>{"crossbar.forward_adc_bits = 6"});
  CHECK(sheet.designs[2].settings == std::vector<std::string>{"crossbar.forward_adc_bits = 5"});
  CHECK(std::all_of(sheet.designs.begin(), sheet.designs.end(), [](const SpecDesign& one) { return one.front; }));
}
