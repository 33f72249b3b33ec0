// SPDX-License-Identifier: Apache-2.0
#include "training/data/batches.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/parallel.hpp"

using nudge::Batch;
using nudge::Index;

namespace {

/// Character k is the number k, so that an id tells its place in the text.
std::vector<int> counting(int n) {
  std::vector<int> ids(static_cast<std::size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

TEST_CASE("a training batch holds windows of the text with targets one further") {
  const auto ids = counting(100);
  const Batch batch = nudge::training_batch(ids, 7, 5, 1, 0);
  REQUIRE(batch.indices.size() == 35);
  for (Index b = 0; b < 7; ++b) {
    const auto x = batch.indices_of(b), y = batch.targets_of(b);
    for (std::size_t t = 0; t < 5; ++t) {
      CHECK(x[t] == x[0] + static_cast<int>(t));
      CHECK(y[t] == x[t] + 1);
    }
    CHECK(y[4] <= 99);
  }
}

TEST_CASE("batches depend on seed and step only, for any number of threads") {
  const auto ids = counting(5000);
  constexpr Index kSteps = 40;
  const auto all = [&](int threads) {
    std::vector<Batch> batches(kSteps);
    nudge::parallel_for(kSteps, threads, [&](Index step, int) {
      batches[static_cast<std::size_t>(step)] = nudge::training_batch(ids, 4, 8, 3, static_cast<std::uint64_t>(step));
    });
    return batches;
  };
  const auto one = all(1), two = all(2), three = all(3);
  for (std::size_t k = 0; k < kSteps; ++k) {
    CHECK(one[k].indices == two[k].indices);
    CHECK(one[k].indices == three[k].indices);
    CHECK(one[k].targets == three[k].targets);
  }
  CHECK(one[0].indices != one[1].indices);
  CHECK(one[0].indices != nudge::training_batch(ids, 4, 8, 4, 0).indices);
  // The first windows are the same however many follow: a bigger batch extends a smaller one.
  const Batch big = nudge::training_batch(ids, 6, 8, 3, 0);
  CHECK(std::equal(one[0].indices.begin(), one[0].indices.end(), big.indices.begin()));
}

TEST_CASE("window starts are uniform over every possible place") {
  const auto ids = counting(20);  // T = 4: starts 0 … 15, 16 cells
  std::vector<double> counts(16, 0.0);
  constexpr int kSteps = 2000, kSequences = 8;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    const Batch batch = nudge::training_batch(ids, kSequences, 4, 11, step);
    for (Index b = 0; b < kSequences; ++b) counts[static_cast<std::size_t>(batch.indices_of(b)[0])] += 1;
  }
  const double expected = kSteps * kSequences / 16.0;
  double chi2 = 0;
  for (const double n : counts) chi2 += (n - expected) * (n - expected) / expected;
  // chi² with 15 degrees of freedom exceeds 44.3 with probability 1e-4; the seed is fixed.
  CHECK(chi2 < 44.3);
  CHECK(*std::min_element(counts.begin(), counts.end()) > 0);
}

TEST_CASE("the shortest text gives its only window") {
  const auto ids = counting(5);
  CHECK(nudge::training_batch(ids, 3, 4, 9, 7).indices == std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(nudge::validation_batches(ids, 1, 1, 4)[0].targets == std::vector<int>{1, 2, 3, 4});
  CHECK(nudge::validation_batches(ids, 0, 1, 4).empty());
}

TEST_CASE("validation windows are evenly spaced from the first to the last start") {
  const auto ids = counting(101);
  const auto batches = nudge::validation_batches(ids, 3, 2, 10);
  REQUIRE(batches.size() == 3);
  std::vector<int> starts;
  for (const Batch& batch : batches) {
    REQUIRE(batch.indices.size() == 20);
    for (Index b = 0; b < 2; ++b) starts.push_back(batch.indices_of(b)[0]);
  }
  CHECK(starts == std::vector<int>{0, 18, 36, 54, 72, 90});  // multiples of (101 − 11)/5
  CHECK(batches[2].targets_of(1)[9] == 100);
}
