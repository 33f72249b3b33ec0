// SPDX-License-Identifier: Apache-2.0
#include "devices/affine_step.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace nudge;

// Roundings of half a unit each: 3 of u and 2 of its series, which the exponential does not enlarge (|d ln(eᵘ − 1)/d ln u| ≤ 1
// for u ≤ 0), 2 of the exponential's series, 2 of each doubling, 1 of what its series leaves out: 12.
TEMPLATE_TEST_CASE("what n pulses leave of the distance is the closed form to 6 units of the last place", "[devices]",
                   float, double) {
  using S = TestType;
  std::vector<S> q, n;
  for (const double share : {1e-30, 1e-9, 1e-5, 1e-3, 0.004, 0.01, 0.02, compound_decay_q}) {
    for (const double count : {0.0, 0.5, 1.0, 2.0, 3.5, 17.0, 42.0, 160.0, 1300.0}) {
      if (share * count > compound_decay_nq) continue;
      q.push_back(static_cast<S>(share));
      n.push_back(static_cast<S>(count));
    }
    q.push_back(static_cast<S>(share));
    n.push_back(static_cast<S>(compound_decay_nq / share * (1 - 1e-6)));
  }
  std::vector<S> lost(q.size());
  compound_decay(q.data(), n.data(), static_cast<Index>(q.size()), lost.data());
  for (std::size_t i = 0; i < q.size(); ++i) {
    CAPTURE(q[i], n[i]);
    const long double exact = std::expm1(static_cast<long double>(n[i]) * std::log1p(-static_cast<long double>(q[i])));
    CHECK(std::abs(static_cast<long double>(lost[i]) - exact) <=
          6 * static_cast<long double>(std::numeric_limits<S>::epsilon()) * std::abs(exact));
  }
}

// Moves of a chunk are one formula per place, whichever of three ways the chunk as a whole takes: the scalar one. In double, where
// the ways differ by roundings alone.
TEST_CASE("a chunk of affine steps moves as its devices do one by one, by series, decay and closed form", "[devices]") {
  const AffineStep rule{1.0, 0.5};
  for (const double most : {2e-4, 0.3, 0.8, 5.0}) {  // n q of the chunk
    CAPTURE(most);
    ElementChunk<double> chunk;
    chunk.size = 1000;
    for (Index i = 0; i < chunk.size; ++i) {
      const double share = static_cast<double>(i % 37) / 36;
      chunk.n[i] = i % 11 == 0 ? 0 : std::floor(1 + 99 * share);
      chunk.sign[i] = i % 2 == 0 ? 1 : -1;
      chunk.reference[i] = 0;
      chunk.upper[i] = 1 + 0.3 * std::sin(static_cast<double>(i));
      chunk.width[i] = 2;
      chunk.g[i] = std::cos(2.0 * static_cast<double>(i));
      chunk.step[i] = most / 100 * (0.7 + 0.3 * std::cos(static_cast<double>(i)));
    }
    ChunkArray<double> change, noise, floor, both;
    rule.moves(chunk, 0.3, 0.0, change, noise);
    rule.moves(chunk, 0.0, 0.7, change, floor);
    rule.moves(chunk, 0.3, 0.7, change, both);
    double worst = 0;
    double worst_noise = 0;
    double worst_floor = 0;
    double worst_sum = 0;
    for (Index i = 0; i < chunk.size; ++i) {
      const double exact = rule.change(chunk.element(i), chunk.direction(i), chunk.n[i]);
      worst = std::max(worst, std::abs(change[i] - exact) / std::max(std::abs(exact), 1e-3 * chunk.step[i]));
      const double spread = rule.noise(chunk.element(i), chunk.direction(i), chunk.n[i], 0.3);
      if (spread > 0) worst_noise = std::max(worst_noise, std::abs(noise[i] / spread - 1));
      if (chunk.n[i] == 0) {
        CHECK(both[i] == 0);
        continue;
      }
      // What is left of the noise of n pulses when each later one pulls it back, summed up pulse by pulse.
      const double keep = 1 - (chunk.sign[i] > 0 ? 1.0 : 0.5) * chunk.step[i] / (chunk.upper[i] - chunk.reference[i]);
      double left = 0;
      for (int k = 0; k < static_cast<int>(chunk.n[i]); ++k) left = left * keep * keep + 1;
      worst_floor = std::max(worst_floor, std::abs(floor[i] / (0.7 * chunk.step[i] * std::sqrt(left)) - 1));
      worst_sum = std::max(worst_sum, std::abs(both[i] / std::hypot(noise[i], floor[i]) - 1));
    }
    // Some ten roundings of 1e-16; near its bound (g up to .99 of .7 to 1.3) a place loses digits in 1 − γ (g − g_ref)/(g_bound −
    // g_ref), three digits where 1e-3 of a step is left.
    CHECK(worst < 1e-12);
    CHECK(worst_floor < 1e-13);  // a hundred roundings of the sum
    CHECK(worst_sum < 1e-15 * 4);
    CHECK(worst_noise < 3e-5);  // the chunk leaves out (n ratio)²/16 of the noise, up to n ratio = .02
  }
}
