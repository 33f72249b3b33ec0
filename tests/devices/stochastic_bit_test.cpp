// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "devices/stochastic_bit.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Mean over the devices and steps of bit(t) bit(t + lag), and of bit(t); x(t) alternates between two inputs.
struct Moments {
  double mean_first = 0, mean_second = 0, product = 0;
};

Moments moments(const StochasticBits& bits, double first, double second, std::uint64_t lag, std::uint64_t pairs) {
  Moments m;
  const double n = static_cast<double>(pairs) * static_cast<double>(bits.devices());
  for (Index i = 0; i < bits.devices(); ++i) {
    for (std::uint64_t p = 0; p < pairs; ++p) {
      // Each pair in a lane of its own, started at a step where the past (up to 40 steps) has been forgotten or not:
      // the marginal does not depend on it. Lanes are independent, so the pairs are.
      const bool a = bits.sample(i, first, 40, static_cast<std::uint32_t>(p));
      const bool b = bits.sample(i, second, 40 + lag, static_cast<std::uint32_t>(p));
      m.mean_first += a;
      m.mean_second += b;
      m.product += a && b;
    }
  }
  m.mean_first /= n;
  m.mean_second /= n;
  m.product /= n;
  return m;
}

/// Five standard errors of the frequency of n independent events of probability p (false alarm 6e-7).
double five_errors(double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); }

}  // namespace

TEST_CASE("stochastic bit: frequency equals the stated probability of each device", "[devices][statistics]") {
  StochasticBitSpec spec{2.0, 0.3, 0.2, 0.4, 0.0};
  for (double correlation : {0.0, 0.9}) {
    spec.correlation = correlation;
    const StochasticBits bits(spec, 6, {4, 1, 0});
    for (Index i = 0; i < bits.devices(); ++i) {
      for (double x : {-1.0, 0.3, 1.2}) {
        const double p = bits.probability(i, x);
        CHECK(p == Approx(1 / (1 + std::exp(-bits.gain(i) * (x - bits.offset(i))))).epsilon(1e-14));
        double ones = 0;
        for (std::uint32_t lane = 0; lane < 10000; ++lane) ones += bits.sample(i, x, 12, lane);
        // 36 comparisons at 6e-7 each: false alarm 2e-5.
        CHECK(std::abs(ones / 10000 - p) < five_errors(p, 10000));
      }
    }
  }
}

TEST_CASE("stochastic bit: autocorrelation rho^k, marginal unchanged, also when x changes", "[devices][statistics]") {
  const double rho = 0.8;
  const StochasticBits bits({1.5, 0, 0, 0, rho}, 20, {4, 1, 0});
  const std::uint64_t pairs = 2000;
  const double n = 40000;
  const auto probability = [&](double x) { return bits.probability(0, x); };
  for (std::uint64_t lag : {0, 1, 3, 8}) {
    for (const auto& [first, second] : {std::pair{0.4, 0.4}, std::pair{-0.6, 0.9}}) {
      const double p = probability(first);
      const double q = probability(second);
      const double keep = std::pow(rho, static_cast<double>(lag));
      const double both = keep * std::min(p, q) + (1 - keep) * p * q;
      const Moments m = moments(bits, first, second, lag, pairs);
      // 24 comparisons at 6e-7 each: false alarm 1.4e-5.
      CHECK(std::abs(m.mean_first - p) < five_errors(p, n));
      CHECK(std::abs(m.mean_second - q) < five_errors(q, n));
      CHECK(std::abs(m.product - both) < five_errors(both, n));
      // At constant x this is the autocorrelation rho^k: cov = P(1 − P) rho^k.
      if (first == second) CHECK((both - p * p) / (p * (1 - p)) == Approx(keep).epsilon(1e-12));
    }
  }
}

TEST_CASE("stochastic bit: a chain of one device has the runs of a telegraph signal", "[devices][statistics]") {
  // At P = 1/2 the value changes with probability (1 − rho)/2 per step, independently of the past (Markov chain).
  const double rho = 0.9;
  const StochasticBits bits({1, 0, 0, 0, rho}, 1, {11, 0, 0});
  const int steps = 40000;
  int changes = 0;
  int repeated = 0;  // changes right after a change
  bool before = bits.sample(0, 0.0, 0);
  bool changed = false;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const bool now = bits.sample(0, 0.0, t);
    if (now != before) {
      ++changes;
      repeated += changed;
    }
    changed = now != before;
    before = now;
  }
  const double p = (1 - rho) / 2;
  CHECK(std::abs(static_cast<double>(changes) / steps - p) < five_errors(p, steps));
  CHECK(std::abs(static_cast<double>(repeated) / changes - p) < five_errors(p, changes));
}

TEST_CASE("stochastic bit: spreads are static, devices and arrays differ, matrices agree with single reads",
          "[devices][statistics]") {
  const StochasticBits bits({2.0, 0.5, 0.1, 0.3, 0.5}, 10000, {4, 1, 0});
  double gain = 0;
  double offset = 0;
  double offset_square = 0;
  for (Index i = 0; i < bits.devices(); ++i) {
    gain += bits.gain(i) / 10000;
    offset += bits.offset(i) / 10000;
    offset_square += std::pow(bits.offset(i) - 0.5, 2) / 10000;
  }
  // Five standard errors: σ/√n for means, σ²√(2/n) for the variance; false alarm 6e-7 each.
  CHECK(std::abs(gain - 2) < 5 * 0.2 / 100);
  CHECK(std::abs(offset - 0.5) < 5 * 0.3 / 100);
  CHECK(std::abs(offset_square - 0.09) < 5 * 0.09 * std::sqrt(2.0 / 10000));
  CHECK(StochasticBits({2.0, 0.5, 0.1, 0.3, 0.5}, 4, {4, 1, 1}).gain(0) != bits.gain(0));

  const StochasticBits few({2.0, 0.5, 0.1, 0.3, 0.5}, 7, {4, 1, 0});
  CHECK(few.gain(3) == bits.gain(3));  // a device does not depend on how many there are
  Matrix<float> x(5, 7);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = 0.1F * static_cast<float>(i) - 1.5F;
  Matrix<float> values(5, 7);
  Matrix<float> probabilities(5, 7);
  few.sample<float>(x, values, 9, 2);
  few.probability<float>(x, probabilities);
  for (Index n = 0; n < 5; ++n) {
    for (Index i = 0; i < 7; ++i) {
      const double at = static_cast<double>(x(n, i));
      CHECK(values(n, i) == (few.sample(i, at, 9, static_cast<std::uint32_t>(n + 2)) ? 1.0F : 0.0F));
      CHECK(probabilities(n, i) == static_cast<float>(few.probability(i, at)));
    }
  }
}

TEST_CASE("stochastic bit: certain inputs, and bad statistics", "[devices]") {
  const StochasticBits bits({1, 0, 0, 0, 0}, 1, {1, 0, 0});
  for (std::uint64_t t = 0; t < 100; ++t) {
    CHECK(bits.sample(0, 1e9, t));
    CHECK(!bits.sample(0, -1e9, t));
  }
  CHECK_THROWS_WITH(StochasticBits({0, 0, 0, 0, 0}, 1, {}), Contains("stochastic_bit.gain = 0") && Contains("> 0"));
  CHECK_THROWS_WITH(StochasticBits({1, 0, -1, 0, 0}, 1, {}), Contains("gain_spread = -1"));
  CHECK_THROWS_WITH(StochasticBits({1, 0, 0, 0, 1}, 1, {}), Contains("correlation = 1") && Contains("[0, 1)"));
  CHECK_THROWS_AS(StochasticBits({1, std::nan(""), 0, 0, 0}, 1, {}), UserError);
}
