// SPDX-License-Identifier: Apache-2.0
// Scores of devices: shares with Fieller's interval, ranks, and the entries of the zoo.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "sim/base/statistics.hpp"
#include "tests/support/catch.hpp"
#include "training/benchmark/zoo.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

using Scores = std::vector<double>;

double mean_of(const Scores& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(const Scores& values) {
  double sum = 0;
  for (const double v : values) sum += (v - mean_of(values)) * (v - mean_of(values));
  return sum / static_cast<double>(values.size() - 1);
}

/// |t| of d_s = (x − n) − rho (e − n), the statistic that Fieller's interval inverts.
double t_of(const Scores& x, const Scores& e, const Scores& n, double rho) {
  Scores d;
  for (std::size_t s = 0; s < x.size(); ++s) d.push_back(x[s] - n[s] - rho * (e[s] - n[s]));
  return std::abs(mean_of(d)) / std::sqrt(variance_of(d) / static_cast<double>(d.size()));
}

BenchmarkRule rule_of(const std::string& name, Scores scores, double validation_loss) {
  BenchmarkRule rule{{name, std::move(scores)}};
  rule.validation_loss = validation_loss;
  return rule;
}

/// An entry of one network: digital weights 0.9, the null 0.5, with a scatter of seeds that leaves these means.
BenchmarkEntry entry_of(const std::string& device, double gain) {
  const double full = 0.9, none = 0.5, learnt = none + gain;
  BenchmarkResult one;
  one.network = "hopfield";
  one.metric = "test_accuracy";
  one.seeds = {11, 12, 13};
  one.exact = {full - 0.001, full, full + 0.001};
  one.nulls = {{"frozen devices", {none, none + 0.001, none - 0.001}}, {"majority", {0.1, 0.1, 0.1}}};
  one.rules = {rule_of("pulses", {learnt, learnt + 0.001, learnt - 0.001}, 1.0)};
  return {device, {"device.preset=" + device}, "short", "d", "0.0.0", "here", "today", {one}};
}

}  // namespace

TEST_CASE("a share and its interval are Fieller's", "[benchmark]") {
  const Scores x = {0.81, 0.84, 0.79, 0.85, 0.82}, e = {0.92, 0.95, 0.91, 0.93, 0.94}, n = {0.5, 0.53, 0.49, 0.5, 0.51};
  const Share share = learnt_share(x, e, n, 1, 3);
  REQUIRE(share.known());
  CHECK(share.value == Approx((mean_of(x) - mean_of(n)) / (mean_of(e) - mean_of(n))).epsilon(1e-12));
  CHECK((share.low < share.value && share.value < share.high));
  // At both ends the test is just significant; t changes by less than 1e-6 where rho is right to the last digits.
  const double t = student_t_quantile(1 - 0.05 / 6, 4);
  CHECK(t_of(x, e, n, share.low) == Approx(t).epsilon(1e-6));
  CHECK(t_of(x, e, n, share.high) == Approx(t).epsilon(1e-6));
  // Losses are scores with the other sign, bit by bit.
  Scores lx, le, ln;
  for (std::size_t s = 0; s < x.size(); ++s) {
    lx.push_back(-x[s]);
    le.push_back(-e[s]);
    ln.push_back(-n[s]);
  }
  CHECK(learnt_share(lx, le, ln, -1, 3).low == share.low);
}

TEST_CASE("a share whose denominator does not scatter has Student's interval", "[benchmark]") {
  const Scores x = {0.6, 0.7, 0.8}, e = {1, 1, 1}, n = {0, 0, 0};
  const Share share = learnt_share(x, e, n, 1, 1);
  const double half = student_t_quantile(0.975, 2) * std::sqrt(variance_of(x) / 3);
  CHECK(share.low == Approx(0.7 - half).epsilon(1e-12));
  CHECK(share.high == Approx(0.7 + half).epsilon(1e-12));
}

TEST_CASE("no share is told where it would mean nothing", "[benchmark]") {
  const Scores a = {0.5, 0.52, 0.49}, b = {0.51, 0.5, 0.5}, high = {0.9, 0.91, 0.89};
  CHECK_THAT(learnt_share(a, b, a, 1, 1).unknown, Contains("not significantly better"));
  CHECK_THAT(learnt_share(a, b, high, 1, 1).unknown, Contains("not significantly better"));  // worse than the null
  CHECK_THAT(learnt_share({{0.5}}, {{0.9}}, {{0.1}}, 1, 1).unknown, Contains("fewer than two seeds"));
  CHECK_THAT(learnt_share({{0.5, 0.5}}, {{0.9, 0.9}}, {{0.1, 0.1}}, 1, 1).unknown, Contains("same scores"));
  CHECK_THAT(learnt_share({{0.5, Share::none, 0.5}}, high, a, 1, 1).unknown, Contains("a run failed"));
  // A device below the null has a share below 0.
  const Share below = learnt_share(a, high, {{0.6, 0.61, 0.6}}, 1, 1);
  CHECK((below.value < 0 && below.high < 0));
}

TEST_CASE("intervals of shares, of their mean and of ranks hold as often as they say", "[benchmark]") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  constexpr int trials = 4000, seeds = 5, devices = 3;
  const double truth[devices] = {0.3, 0.7, 0.75};
  int one = 0, mean = 0, ranks = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<Share> together;
    for (const double rho : truth) {
      Scores x, e, n;
      for (int s = 0; s < seeds; ++s) {
        const double shared = 0.02 * normal(random), null = 0.5 + 0.01 * normal(random);
        n.push_back(null);
        e.push_back(null + 0.4 + shared + 0.01 * normal(random));
        x.push_back(null + rho * 0.4 + shared + 0.03 * normal(random));
      }
      together.push_back(learnt_share(x, e, n, 1, devices));
      if (rho != truth[1]) continue;
      const Share alone = learnt_share(x, e, n, 1, 1);
      one += alone.low <= rho && rho <= alone.high ? 1 : 0;
    }
    const Share all = mean_share(together);
    const double middle = (truth[0] + truth[1] + truth[2]) / 3;
    mean += all.low <= middle && middle <= all.high ? 1 : 0;
    const std::vector<RankRange> places = rank_ranges(together);
    bool held = true;
    for (int d = 0; d < devices; ++d)
      held = held && places[d].first <= devices - d && devices - d <= places[d].last;  // 0.75 is the first
    ranks += held ? 1 : 0;
  }
  // 4000 trials of 95 % have a standard deviation of 14; four of them.
  CHECK(std::abs(one - 0.95 * trials) < 56);
  CHECK(mean > 0.95 * trials - 56);
  CHECK(ranks > 0.95 * trials - 56);
}

TEST_CASE("ranks know ties and what the intervals leave open", "[benchmark]") {
  const auto share = [](double value, double half) { return Share{value, value - half, value + half, {}}; };
  const auto ranks = rank_ranges({share(0.9, 0.01), share(0.5, 0.1), share(0.5, 0.1), share(0.1, 0.01)});
  CHECK((ranks[0].rank == 1 && ranks[0].first == 1 && ranks[0].last == 1));
  CHECK((ranks[1].rank == 2 && ranks[1].first == 2 && ranks[1].last == 3));
  CHECK((ranks[2].rank == 2 && ranks[2].of == 4));
  CHECK((ranks[3].rank == 4 && ranks[3].first == 4));
  CHECK(rank_ranges({}).empty());
}

TEST_CASE("the score is of the rule that the tuning chose, over the strongest null", "[benchmark]") {
  BenchmarkEntry entry = entry_of("a", 0.2);
  BenchmarkResult& one = entry.networks.front();
  CHECK(one.strongest_null()->name == "frozen devices");
  CHECK(entry.score().value == Approx(0.5).epsilon(1e-12));
  one.rules.push_back(rule_of("write_verify", {0.8, 0.81, 0.79}, 2.0));  // better in the test, worse in the tuning
  CHECK(entry.score().value == Approx(0.5).epsilon(1e-12));
  CHECK(entry.rule_share("write_verify").value == Approx(0.75).epsilon(1e-12));
  one.nulls.push_back({"linear", {0.8, 0.8, 0.8}});  // above what the rule reaches: 0.7
  CHECK(entry.score().value == Approx(-1).epsilon(1e-12));
  CHECK(entry.score().high < 0);
  one.nulls.push_back({"broken", {1.0, Share::none, 1.0}});
  CHECK(one.strongest_null()->name == "linear");
  one.rules.front().failure = "1 of 3 failed";
  CHECK_THAT(entry.score().unknown, Contains("hopfield: pulses: 1 of 3 failed"));
  one.rules.clear();
  CHECK_THAT(entry.score().unknown, Contains("no rule ended well"));
  CHECK_THAT(entry.rule_share("pulses").unknown, Contains("not tried"));
}

TEST_CASE("entries are ranked among those of one protocol, and devices without a score are last", "[benchmark]") {
  std::vector<BenchmarkEntry> zoo = {entry_of("low", 0.1), entry_of("broken", 0.3), entry_of("high", 0.35),
                                     entry_of("other", 0.4)};
  zoo[1].networks.front().rules.front().failure = "3 of 3 failed";
  zoo[3].digest = "another";
  const auto ranked = ranked_entries(zoo, "d");
  REQUIRE(ranked.size() == 3);
  CHECK((ranked[0].entry->device == "high" && ranked[0].rank.rank == 1 && ranked[0].rank.of == 2));
  CHECK((ranked[1].entry->device == "low" && ranked[1].rank.first == 2));
  CHECK((ranked[2].entry->device == "broken" && ranked[2].rank.rank == 0));
  // Seeds that scatter too much for so many devices leave a score without an interval, and any rank.
  std::vector<BenchmarkEntry> many(200, entry_of("one", 0.3));
  for (BenchmarkEntry& one : many) one.networks.front().exact = {0.85, 0.9, 0.95};
  REQUIRE(many[0].score().known());
  const RankedEntry open = ranked_entries(many, "d").front();
  CHECK((std::isinf(open.score.low) && std::isfinite(open.score.value)));
  CHECK((open.rank.rank == 1 && open.rank.first == 1 && open.rank.last == 200));
  CHECK(ranked[0].score.high - ranked[0].score.low > zoo[2].score().high - zoo[2].score().low);  // of two at once
}

TEST_CASE("an entry comes back from its JSON, and what is none is refused", "[benchmark]") {
  BenchmarkEntry entry = entry_of("a", 0.2);
  entry.networks.front().rules.front().scores[1] = Share::none;
  entry.networks.front().rules.front().pulses = 12345;
  entry.networks.front().refused = {{"coincidence", "must"}};
  const nlohmann::json json = json_of(entry);
  CHECK(json_of(entry_from(nlohmann::json::parse(json.dump()), "x")) == json);
  CHECK(std::isnan(entry_from(json, "x").networks.front().rules.front().scores[1]));
  CHECK_THROWS_WITH(entry_from({{"device", "a"}}, "a.json"), Contains("a.json: not a result of nudge benchmark"));
  nlohmann::json shorter = json;
  shorter["networks"][0]["exact"] = {0.9};
  CHECK_THROWS_WITH(entry_from(shorter, "a.json"), Contains("a.json: 1 scores for 3 seeds"));
  std::vector<BenchmarkEntry> zoo = {entry};
  BenchmarkEntry changed = entry_of("a", 0.3), own = entry_of("a", 0.1);
  own.settings.emplace_back("device.read_noise=0.01");
  join_zoo(zoo, {changed, own});
  REQUIRE(zoo.size() == 2);  // the same device anew, and another of that name
  CHECK(zoo[0].score().value == Approx(0.75).epsilon(1e-12));
}

TEST_CASE("protocols differ where a result may, and parts name what a device can have", "[benchmark]") {
  BenchmarkProtocol protocol = short_benchmark(), same = protocol, other = protocol;
  same.settings.insert(same.settings.end(), {"data.folder=/x", "threads=2", "sweep.parallel=2"});
  other.settings.emplace_back("train.steps=10");
  CHECK(protocol.digest() == same.digest());
  CHECK(protocol.digest() != other.digest());
  CHECK(protocol.digest() != full_benchmark().digest());
  CHECK_THROWS_WITH(choose_parts(protocol, {"hopfeld"}, {}), Contains("did you mean hopfield?"));
  CHECK_THROWS_WITH(choose_parts(protocol, {}, {"pulse"}), Contains("did you mean pulses?"));
  CHECK_THROWS_WITH(benchmark_device("ecrm"), Contains("did you mean ecram?"));
  choose_parts(protocol, {"hopfield", "resistive", "transformer"}, {"pulses", "coincidence"});
  const auto parts = benchmark_parts(protocol, benchmark_device("ecram"));
  REQUIRE(parts.size() == 3);
  for (const BenchmarkPart& part : parts) CHECK(std::count(part.rules.begin(), part.rules.end(), "pulses") == 1);
  CHECK(benchmark_presets().size() > 5);

  // A network of characters reads no folder of samples; the others do.
  BenchmarkProtocol full = full_benchmark();
  add_settings(full, {"data.folder=/x"});
  for (const BenchmarkPart& part : benchmark_parts(full, benchmark_device("ecram"))) {
    const std::vector<std::string>& settings = part.comparison.source.settings;
    CHECK(std::count(settings.begin(), settings.end(), "data.folder=/x") == (part.network == "transformer" ? 0 : 1));
  }
}
