// SPDX-License-Identifier: Apache-2.0
#include "training/train/outlier_guard.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

using nudge::OutlierGuard;
using nudge::OutlierGuardOptions;
using nudge::StepDecision;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<StepDecision> decisions(OutlierGuard& guard, const std::vector<double>& norms) {
  std::vector<StepDecision> all;
  for (const double norm : norms) all.push_back(guard.decide(norm));
  return all;
}

constexpr auto A = StepDecision::accept;
constexpr auto S = StepDecision::skip_outlier;
constexpr auto R = StepDecision::reject_nonfinite;
using Decisions = std::vector<StepDecision>;

}  // namespace

TEST_CASE("outliers are skipped, others accepted, and the average is a plain mean at first") {
  OutlierGuard guard({4.0, 0.75, 2});  // weight of the k-th norm: 1, 1/2, 1/3, 1/4, 1/4, …
  CHECK(decisions(guard, {1, 3}) == Decisions{A, A});
  CHECK(guard.average() == 2);
  CHECK(guard.decide(8) == A);  // exactly at the threshold
  CHECK(guard.average() == Approx(4));
  CHECK(guard.decide(100) == S);
  CHECK(guard.average() == Approx(4 + 0.25 * (16 - 4)));  // entered as 4 · 4
  CHECK(guard.decide(7) == A);
  CHECK(guard.skipped() == 1);
  CHECK(guard.nonfinite() == 0);
}

TEST_CASE("steps that are not finite are rejected, counted and leave no trace in the average") {
  OutlierGuard guard({4.0, 0.75, 2});
  CHECK(decisions(guard, {std::nan(""), 2, kInfinity, 2, 2}) == Decisions{R, A, R, A, A});
  CHECK(guard.average() == 2);
  CHECK(guard.nonfinite() == 2);
  CHECK(guard.skipped() == 0);
}

TEST_CASE("the warm-up accepts everything finite, but clips what enters the average") {
  OutlierGuard guard({4.0, 0.75, 3});
  CHECK(decisions(guard, {1, 1e12, 1e12, 1e12}) == Decisions{A, A, A, S});
  OutlierGuard after_two({4.0, 0.75, 3});
  decisions(after_two, {1, 1e12});
  CHECK(after_two.average() == 2.5);  // (1 + 4)/2
}

TEST_CASE("gradients that have really grown are accepted again after a known number of skips") {
  OutlierGuard guard(OutlierGuardOptions{});
  for (int i = 0; i < 200; ++i) guard.decide(1.0);
  CHECK(guard.average() == Approx(1));
  int skips = 0;
  while (skips < 100 && guard.decide(1000.0) == S) ++skips;
  // The threshold 30 · 1.29^k passes 1000 at k = ln(1000/30)/ln 1.29 = 13.8.
  CHECK(skips == 14);
  CHECK(guard.skipped() == 14);
}

TEST_CASE("one outlier does not hide the next") {
  OutlierGuard guard(OutlierGuardOptions{});
  for (int i = 0; i < 200; ++i) guard.decide(1.0);
  CHECK(decisions(guard, {1e9, 1, 1e9, 1, 35}) == Decisions{S, A, S, A, A});  // 30 · 1.29² ≈ 50 > 35
}

TEST_CASE("an average of zero and a ratio of zero skip nothing") {
  OutlierGuard zero({4.0, 0.75, 1});
  CHECK(decisions(zero, {0, 0, 5}) == Decisions{A, A, A});
  OutlierGuard off({0.0, 0.75, 1});
  CHECK(decisions(off, {1, 1e30, kInfinity}) == Decisions{A, A, R});
}

TEST_CASE("a restored guard goes on alike") {
  OutlierGuard original({4.0, 0.9, 2}), restored({4.0, 0.9, 2});
  decisions(original, {1, 2, 50, std::nan(""), 3});
  auto from = original.state();
  auto to = restored.state();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    CHECK(from[i].name == to[i].name);
    *to[i].value = *from[i].value;
  }
  CHECK(restored.skipped() == 1);
  CHECK(restored.nonfinite() == 1);
  const std::vector<double> next{2, 9, 10, 11, 40, kInfinity, 1};
  CHECK(decisions(original, next) == decisions(restored, next));
  CHECK(original.average() == restored.average());
}

TEST_CASE("outlier guard errors") {
  CHECK_THROWS_WITH(OutlierGuard({1.0, 0.9, 1}), "outlier guard: ratio = 1 (must be > 1, or 0 to switch it off)");
  CHECK_THROWS_WITH(OutlierGuard({9.0, 1.0, 1}), "outlier guard: decay = 1 (must be >= 0 and < 1)");
  CHECK_THROWS_WITH(OutlierGuard({9.0, 0.9, 0}), "outlier guard: warmup = 0 (must be at least 1)");
}
