// SPDX-License-Identifier: Apache-2.0
// Paired differences, and what may be said of many of them at once.
#include "training/compare/paired.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

TEST_CASE("quantiles of Student's t are those of the tables") {
  // Published tables, three decimals.
  CHECK(student_t_quantile(0.975, 1) == Approx(12.706).margin(5e-4));
  CHECK(student_t_quantile(0.975, 2) == Approx(4.303).margin(5e-4));
  CHECK(student_t_quantile(0.975, 4) == Approx(2.776).margin(5e-4));
  CHECK(student_t_quantile(0.95, 10) == Approx(1.812).margin(5e-4));
}

TEST_CASE("a paired difference has the interval of its differences, a run that failed has lost") {
  const PairedDifference d = paired_difference({1.1, 2.2, 3.3}, {1, 2, 3}, "test_loss");
  CHECK(d.seeds == 3);
  CHECK(d.mean == Approx(0.2));
  CHECK(d.deviation == Approx(0.1));
  CHECK(d.high - d.mean == Approx(4.30265 * 0.1 / std::sqrt(3.0)).epsilon(1e-5));
  CHECK(d.mean - d.low == Approx(d.high - d.mean));
  CHECK(d.lost == 3);
  CHECK(paired_difference({1.1, 2.2, 3.3}, {1, 2, 3}, "test_accuracy").won == 3);
  CHECK(paired_difference({1.1, std::nan(""), 3.3}, {1, 2, 3}, "test_loss").seeds == 2);  // not run yet
  // The second run failed: no mean of the others, which would say +0.1 and +0.3.
  for (const char* result : {"test_loss", "test_accuracy"}) {
    const double failed = failed_value(result);
    const PairedDifference rest = paired_difference({1.1, failed, 3.3, failed}, {1, 2, failed, failed}, result);
    CHECK(rest.seeds == 4);
    CHECK(rest.failed == 3);
    CHECK((std::isnan(rest.mean) && std::isnan(rest.low) && std::isnan(rest.high)));
    const bool larger = std::string(result) == "test_accuracy";
    CHECK(rest.won == (larger ? 2 : 1));  // the pair whose baseline failed; both failed: a tie
    CHECK(rest.lost == (larger ? 1 : 2));
  }
  const PairedDifference one = paired_difference({1.5}, {1}, "test_loss");
  CHECK(one.mean == 0.5);
  CHECK(std::isinf(one.high));
  CHECK(std::isnan(paired_difference({}, {}, "test_loss").mean));
}

namespace {

/// Deterministic stream: sums of 12 uniforms of a linear congruence, normal enough.
class Normals {
 public:
  explicit Normals(std::uint64_t seed) : state_(seed) {}
  double operator()() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
      sum += static_cast<double>(state_ >> 11) * 0x1.0p-53;
    }
    return sum;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

TEST_CASE("differences that rounding alone tells apart are equal, and three of them prove nothing") {
  // One of 120 samples lost by each of three seeds: 0.975 - 0.98333... and its like differ in their last bits.
  std::vector<double> before, after;
  for (const int right : {118, 113, 117}) {
    before.push_back(right / 120.0);
    after.push_back((right - 1) / 120.0);
  }
  const PairedDifference d = paired_difference(after, before, "validation_accuracy", 8);
  CHECK(d.deviation == 0);
  CHECK_FALSE(d.certain());
}

TEST_CASE("of families in which nothing differs at most one in twenty names something") {
  // Entrants of unlike scatter (1 to 3) on common seeds. A family errs where any difference to the first is sure, and
  // where any entrant is told from the one that came out best. Dunn's inequality bounds both by 0.05: of 1500 families
  // 75, sd 8.4; 4 sd above fails once in 3e4. Single intervals err in .1 to .6 of them.
  constexpr int families = 1500;
  Normals normal(11);
  for (const int entrants : {2, 3, 5, 10}) {
    for (const int seeds : {3, 5, 8}) {
      int against_first = 0, against_best = 0;
      for (int f = 0; f < families; ++f) {
        std::vector<std::vector<double>> losses(static_cast<std::size_t>(entrants));
        std::vector<double> means;
        for (int s = 0; s < seeds; ++s) {
          const double common = 10 * normal();
          for (int e = 0; e < entrants; ++e)
            losses[static_cast<std::size_t>(e)].push_back(common + (1 + e % 3) * normal());
        }
        for (const auto& own : losses) means.push_back(spread_of_finite(own).mean);
        const auto best = static_cast<std::size_t>(std::min_element(means.begin(), means.end()) - means.begin());
        bool first = false, told = false;
        for (std::size_t e = 0; e < losses.size(); ++e) {
          first = first || (e > 0 && paired_difference(losses[e], losses[0], "test_loss", entrants - 1).certain());
          const auto behind = paired_difference(losses[e], losses[best], "test_loss", comparisons_with_best(entrants));
          told = told || (e != best && behind.certain());
        }
        against_first += first ? 1 : 0;
        against_best += told ? 1 : 0;
      }
      CAPTURE(entrants, seeds);
      CHECK(against_first <= 75 + 4 * 8.4);
      CHECK(against_best <= 75 + 4 * 8.4);
    }
  }
}

TEST_CASE("a real effect is named among many that are none, and what seeds cannot tell is said") {
  // Ten keys, five seeds, scatter of a difference √2; t(1 − .05/20, 4) = 5.6, half width 3.5: an effect of 10 is 4.6
  // standard errors beyond it, nine of none are not.
  Normals normal(3);
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values(10);
  std::vector<double> seeds, results;
  for (int k = 0; k < 10; ++k) keys.push_back("key" + std::to_string(k));
  for (int point = 0; point <= 10; ++point) {
    for (int s = 0; s < 5; ++s) {
      for (int k = 0; k < 10; ++k) values[static_cast<std::size_t>(k)].push_back(k + 1 == point ? "b" : "a");
      seeds.push_back(s);
      results.push_back(normal() + (point == 4 ? 10 : 0));
    }
  }
  const auto effects = key_effects(keys, values, seeds, {{"validation_loss", results}}).front();
  REQUIRE(effects.size() == 10);
  CHECK((effects.front().key == "key3" && effects.front().difference.certain()));
  CHECK(effects.front().difference.comparisons == 10);
  for (std::size_t i = 1; i < effects.size(); ++i) CHECK_FALSE(effects[i].difference.certain());
  // A verdict looks at an accuracy and at the loss beside it: the effects on both are one family.
  CHECK(headline_results({"validation_accuracy", "skipped", "validation_loss"}) ==
        std::vector<std::string>{"validation_accuracy", "validation_loss"});
  CHECK(headline_results({"validation_loss", "validation_accuracy"}) == std::vector<std::string>{"validation_loss"});
  const auto both = key_effects(keys, values, seeds, {{"validation_accuracy", results}, {"validation_loss", results}});
  REQUIRE((both.size() == 2 && both[0].size() == 10 && both[1].size() == 10));
  CHECK(both[0].front().difference.comparisons == 20);
  CHECK(both[1].front().difference.high - both[1].front().difference.mean >
        effects.front().difference.high - effects.front().difference.mean);
  // Whoever asks for one of them gets the same interval; a third result widens the family by its own effects.
  const ResultColumns all{{"validation_accuracy", results}, {"validation_loss", results}, {"skipped", results}};
  const auto asked = [&](const std::string& name) { return key_effects(keys, values, seeds, all, name).front(); };
  CHECK(key_effects(keys, values, seeds, all).size() == 2);
  CHECK(asked("validation_loss").front().difference.low == both[1].front().difference.low);
  CHECK(asked("skipped").front().difference.comparisons == 30);
  // d = 1, s = 1: three seeds reach 4.303/√3 = 2.48; t(.975, 6)/√7 = .925 is the first below 1.
  PairedDifference d = paired_difference({0, 1, 2}, {0, 0, 0}, "test_loss");
  CHECK(d.seeds_needed() == 7);
  const auto text = [](double x) { return std::to_string(static_cast<int>(100 * x)); };
  CHECK(reach_text(d, text) == "3 seeds cannot resolve less than 248 here; about 7 would resolve 100");
  look_at_together(d, 10);
  CHECK(d.high - d.mean == Approx(student_t_quantile(1 - 0.05 / 20, 2) / std::sqrt(3.0)));
  CHECK(d.seeds_needed() > 7);
  CHECK(reach_text(paired_difference({1}, {0}, "test_loss"), text).empty());
}

TEST_CASE("intervals of normal differences cover zero 95 times in 100") {
  // 2000 intervals of n = 5: the count is binomial(2000, .95), sd 9.7; 4.5 sd to either side fails once in 1e5 streams.
  Normals normal(7);
  int covered = 0;
  for (int k = 0; k < 2000; ++k) {
    std::vector<double> x, y;
    for (int s = 0; s < 5; ++s) {
      const double common = 10 * normal();
      x.push_back(common + normal());
      y.push_back(common + normal());
    }
    const PairedDifference d = paired_difference(x, y, "test_loss");
    covered += d.low <= 0 && 0 <= d.high ? 1 : 0;
  }
  CHECK(std::abs(covered - 1900) < 44);
}

TEST_CASE("of points with several estimators each has effects of its own", "[statistics]") {
  // Noise takes 0.1 from the cosine of ep and 0.5 from that of aep; their mean, 0.3, is the effect on neither.
  std::vector<std::vector<std::string>> values(2);
  std::vector<double> seeds, cosine;
  for (const char* estimator : {"ep", "aep"}) {
    for (const char* noise : {"0", "0.1"}) {
      for (int seed = 1; seed <= 2; ++seed) {
        values[0].emplace_back(estimator);
        values[1].emplace_back(noise);
        seeds.push_back(seed);
        const double lost = std::string(noise) == "0" ? 0 : std::string(estimator) == "ep" ? 0.1 : 0.5;
        cosine.push_back(1 - lost - 0.001 * seed);
      }
    }
  }
  const auto effects = key_effects({"estimator", "device.read_noise"}, values, seeds, {{"cosine", cosine}}).front();
  REQUIRE(effects.size() == 3);
  CHECK((effects[0].among == "estimator = aep" && effects[0].difference.mean == Approx(-0.5)));
  CHECK((effects[1].key == "estimator" && effects[1].among.empty() && effects[1].difference.mean == Approx(-0.2)));
  CHECK((effects[2].among == "estimator = ep" && effects[2].difference.mean == Approx(-0.1)));
  CHECK(effects[0].difference.comparisons == 3);
}
