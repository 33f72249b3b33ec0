// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "training/compare/advice.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kConfig =
    "estimator = 'ep'\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\nreferences = 'off'\n"
    "[data]\nvalidation_fraction = 0.1\ntest_fraction = 0.2\n[hopfield]\nhidden = [12]\n"
    "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 10\nnudged_steps = 6\n"
    "[train]\nsteps = 40\nbatch = 8\noptimizer = 'sgd'\nlearning_rate = 0.1\nevaluate_every = 'end'\nnull = 'off'\n"
    "[device]\npreset = 'ecram'\n[crossbar]\nprogramming = 'write_verify'\n"
    "[compare]\ntest_seeds = [11, 12]\n[compare.grid]\n'train.learning_rate' = [0.1]\n";

std::vector<std::string> named(const nlohmann::json& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row["rule"]);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr double kFailed = std::numeric_limits<double>::infinity();

/// A comparison of these test losses, one for each of the seeds 11 and 12 or, of an entrant that no tuning run ended well of, none.
Comparison comparison_of(const std::vector<std::pair<std::string, std::vector<double>>>& losses) {
  Comparison c;
  c.test.keys = {"entrant"};
  c.test.metrics = {{"test_loss", "nat", ""}};
  const std::vector<double> none(2, std::nan(""));
  const std::vector<double>& first = losses.front().second.empty() ? none : losses.front().second;
  for (const auto& [name, own] : losses) {
    ComparedEntrant one{{name, {}}, std::nullopt};
    const std::vector<double>& of_seeds = own.empty() ? none : own;
    one.test = cell_spread(of_seeds, "test_loss");
    one.difference = paired_difference(of_seeds, first, "test_loss");
    one.runs = one.test.runs;
    one.failed = one.test.failed;
    for (std::size_t s = 0; s < own.size(); ++s) {
      const bool ok = std::isfinite(own[s]);
      c.test.points.push_back({{name}, {}, static_cast<std::int64_t>(11 + s), ok ? "ok" : "it broke", {own[s]}});
    }
    c.entrants.push_back(one);
  }
  return c;
}

}  // namespace

TEST_CASE("a rule without a result is behind the others and level with none", "[apps]") {
  const auto ranked = ranking(comparison_of({{Advice::exact, {1.0, 1.01}},
                                             {Advice::frozen, {2.0, 2.01}},
                                             {"untuned", {}},
                                             {"broken", {1.2, kFailed}},
                                             {"sound", {1.5, 1.51}},
                                             {"alike", {1.4, 1.62}}}));
  REQUIRE(ranked.size() == 4);
  CHECK(ranked[0].result.entrant.name == "sound");
  CHECK(ranked[0].regained == Approx(0.5));
  CHECK(ranked[1].has_result());
  CHECK(ranked[1].level());  // 0.005 and an interval of 95 % over two seeds, more than ten times as wide
  for (const std::size_t i : {2U, 3U}) {
    CAPTURE(ranked[i].result.entrant.name);
    CHECK_FALSE(ranked[i].has_result());
    CHECK_FALSE(ranked[i].level());
    CHECK_FALSE(std::isfinite(ranked[i].regained));
  }
}

TEST_CASE("what rules regain is said of rows that are there", "[apps]") {
  const auto unknown = [](const std::vector<double>& exact, const std::vector<double>& frozen) {
    return regained_unknown(comparison_of({{Advice::exact, exact}, {Advice::frozen, frozen}, {"rule", {1.5, 1.5}}}));
  };
  CHECK(unknown({1.0, 1.01}, {2.0, 2.02}) == "");
  CHECK_THAT(unknown({1.0, 1.01}, {1.0, 1.01}),
             Contains("frozen devices and digital weights are not significantly different"));
  CHECK_THAT(unknown({1.0, 1.01}, {}), Contains("no result of frozen devices"));
  CHECK_THAT(unknown({kFailed, 1.01}, {2.0, 2.02}), Contains("no result of exact numbers"));
  CHECK_THAT(unknown({}, {}), Contains("no result of exact numbers and frozen devices"));
  CHECK_THAT(unknown({1.0}, {2.0}), Contains("one seed has no interval"));
}

TEST_CASE("advise none of whose runs ends well says so in every row", "[apps]") {
  const Folder folder;
  folder.write("mine.toml", kConfig);
  // Weights of 1e300 at the first step: the second is not finite.
  const Outcome done = run_nudge(
      folder, "advise mine.toml --out a.h5 --set train.steps=3 --set 'compare.grid.train.learning_rate=[1e300]'");
  CHECK(done.exit_code == 3);
  CHECK_THAT(done.errors, Contains("no update rule has a result; the first: ") && Contains("train.learning_rate"));
  CHECK_THAT(done.output, Contains("no result: pulses: 2 of 2 failed, seed 11: ") &&
                              Contains("not known: no result of exact numbers and frozen devices"));
  CHECK_THAT(done.output,
             !Contains("significantly different") && !Contains("\n=") && !Contains("\n1 ") && !Contains("100 %"));
}

TEST_CASE("advise ranks every rule that the devices can have, and says why not the others", "[apps]") {
  const Folder folder;
  folder.write("mine.toml", kConfig);
  const Outcome done = run_nudge(folder, "advise mine.toml --out a.h5 --json");
  REQUIRE(done.exit_code == 0);
  const auto json = nlohmann::json::parse(done.output);
  const std::vector<std::string> ranked = named(json["ranking"]), refused = named(json["refused"]);
  CHECK(ranked.size() + refused.size() == 11);  // all values of crossbar.update but none
  CHECK(has(ranked, "pulses"));
  CHECK(has(refused, "coincidence"));  // train.momentum
  for (const auto& row : json["refused"]) CHECK_THAT(row["why"].get<std::string>(), Contains("must"));
  double before = 0;
  for (const auto& row : json["ranking"]) {
    CHECK(row.at("edges") == nlohmann::json::array());  // of one rate none is outermost
    const double loss = row["test_loss"]["mean"];
    CHECK(loss >= before);
    before = loss;
    // Differences of means are means of differences: sums of two losses of order one.
    CHECK(row["lost"]["mean"].get<double>() == Approx(loss - json["exact"]["mean"].get<double>()).margin(1e-12));
    CHECK(row["behind"]["mean"].get<double>() ==
          Approx(loss - json["ranking"][0]["test_loss"]["mean"].get<double>()).margin(1e-12));
    if (row["regained"].is_null()) continue;
    const double frozen = json["frozen"]["mean"], exact = json["exact"]["mean"];
    CHECK(row["regained"].get<double>() == Approx((frozen - loss) / (frozen - exact)).epsilon(1e-9));
  }
  // It is a comparison: what nudge compare of the same entrants would find.
  CHECK(run_nudge(folder, "info a.h5").exit_code == 0);
  const Outcome again = run_nudge(folder, "advise mine.toml --resume a.h5");
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.output, Contains("regained: ") && Contains("not tried: coincidence: "));
}

TEST_CASE("advise says what every rule takes, and tunes transfer rates where there is a fast array", "[apps]") {
  const Folder folder;
  std::string config = kConfig;
  config.replace(config.find("[compare.grid]"), std::string::npos, "");  // its own grid
  folder.write("mine.toml", config + "tuning_seeds = [1]\n");
  const Outcome done =
      run_nudge(folder,
                "advise mine.toml --out a.h5 --json --set train.steps=3 --set 'device.pulse_voltage_up=1 V' "
                "--set 'device.pulse_voltage_down=1 V' --set 'device.pulse_width_up=100 ns' "
                "--set 'device.pulse_width_down=100 ns'");
  REQUIRE(done.exit_code == 0);
  const auto json = nlohmann::json::parse(done.output);
  for (const auto& row : json["ranking"]) {
    const std::string rule = row["rule"];
    CAPTURE(rule);
    const bool fast = rule != "pulses" && rule != "write_verify" && rule != "accumulate" && rule != "one_sided";
    CHECK(row["chosen"].contains("train.learning_rate"));
    CHECK(row["chosen"].contains("crossbar.transfer_rate") == fast);
    // sgd keeps its momentum; a rule its own numbers.
    if (rule == "pulses" || rule == "one_sided") CHECK(row["digital_numbers"] == 1);
    if (rule == "accumulate" || rule == "c_ttv2") CHECK(row["digital_numbers"] == 2);
    if (rule == "write_verify") CHECK(row["digital_numbers"] == 3);  // its copy, and what was last written
    const double pulses = row["pulses"], most = row["most_pulses"], heat = row["learning_energy_J"];
    CHECK(most >= 1);  // of the first writing at least
    // Ohmic devices of 0 to 60 uS under pulses of 1 V and 100 ns; reads take far less than pulses.
    if (rule == "pulses") CHECK((heat > 0 && heat < pulses * 60e-6 * 100e-9));
  }
}

TEST_CASE("advise without devices is refused", "[apps]") {
  const Folder folder;
  folder.write("mine.toml", kConfig);
  const Outcome none = run_nudge(folder, "advise mine.toml --set device.preset= --set device.model=digital");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.errors, Contains("mine.toml: device.model = digital: there are no devices to try rules on"));
}
