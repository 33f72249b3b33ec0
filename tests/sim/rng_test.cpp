// SPDX-License-Identifier: Apache-2.0
// Statistical checks have fixed seeds and limits at 4.9 standard errors (or the p = 1e-6 point of their distribution): a
// correct generator fails one of them for about one choice of seed in 1e6 per check, some 1e-4 for this file.
#include "sim/base/rng.hpp"
#include "sim/base/philox_blocks.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <vector>

using namespace nudge;

namespace {

constexpr double kSigmas = 4.9;  // two-sided tail 1e-6

template <class S>
std::vector<S> normals(const RngKey& key, std::size_t n, std::uint64_t step = 0, std::uint32_t lane = 0) {
  std::vector<S> out(n);
  fill_normal<S>(key, step, lane, out);
  return out;
}

template <class S>
std::vector<S> uniforms(const RngKey& key, std::size_t n, std::uint64_t step = 0, std::uint32_t lane = 0) {
  std::vector<S> out(n);
  fill_uniform<S>(key, step, lane, out);
  return out;
}

template <class S>
double correlation(const std::vector<S>& a, const std::vector<S>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum / double(a.size());
}

/// √n sup |F_n − F| of Kolmogorov; its tail is 2 exp(−2 d²) for large n, 1e-6 at d = 2.69.
template <class S, class Cdf>
double kolmogorov(std::vector<S> x, Cdf cdf) {
  std::sort(x.begin(), x.end());
  const auto n = double(x.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double p = cdf(double(x[i]));
    worst = std::max({worst, std::abs(p - double(i) / n), std::abs(p - double(i + 1) / n)});
  }
  return std::sqrt(n) * worst;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double chi_squared_limit(std::size_t bins) {
  return boost::math::quantile(boost::math::complement(boost::math::chi_squared(double(bins - 1)), 1e-6));
}

template <class Counts>
double chi_squared(const Counts& counts, double expected) {
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

TEMPLATE_TEST_CASE("Normal numbers are standard normal", "[rng]", float, double) {
  const std::size_t n = 1000000;
  const auto x = normals<TestType>({2024, Purpose::read_noise, 5}, n);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto v = double(x[i]);
    m1 += v, m2 += v * v, m3 += v * v * v, m4 += v * v * v * v;
    if (i > 0) lag += v * double(x[i - 1]);
  }
  const double root = std::sqrt(double(n));
  // Standard deviations of one term: 1, √2, √15, √96, 1.
  CHECK(std::abs(m1 / double(n)) < kSigmas / root);
  CHECK(std::abs(m2 / double(n) - 1) < kSigmas * std::sqrt(2.0) / root);
  CHECK(std::abs(m3 / double(n)) < kSigmas * std::sqrt(15.0) / root);
  CHECK(std::abs(m4 / double(n) - 3) < kSigmas * std::sqrt(96.0) / root);
  CHECK(std::abs(lag / double(n)) < kSigmas / root);
  CHECK(kolmogorov(x, normal_cdf) < 2.69);
  // The cosine and sine halves of a run are independent, also in their squares (they share a radius).
  const std::size_t run = std::is_same_v<TestType, float> ? 64 : 32;
  double product = 0, squares = 0;
  for (std::size_t i = 0; i + 2 * run <= n; i += 2 * run) {
    for (std::size_t j = 0; j < run; ++j) {
      const auto a = double(x[i + j]);
      const auto b = double(x[i + j + run]);
      product += a * b, squares += (a * a - 1) * (b * b - 1);
    }
  }
  CHECK(std::abs(product) < kSigmas * std::sqrt(double(n) / 2));
  CHECK(std::abs(squares) < kSigmas * 2 * std::sqrt(double(n) / 2));
}

TEMPLATE_TEST_CASE("Uniform numbers are uniform from 0 to 1", "[rng]", float, double) {
  const auto x = uniforms<TestType>({2025, Purpose::latent_bits, 0}, 500000);
  CHECK(*std::min_element(x.begin(), x.end()) >= 0);
  CHECK(*std::max_element(x.begin(), x.end()) < 1);
  CHECK(kolmogorov(x, [](double u) { return u; }) < 2.69);
  std::vector<double> counts(256, 0.0);
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    ++counts[static_cast<std::size_t>(x[i] * 16) * 16 + static_cast<std::size_t>(x[i + 1] * 16)];
  }
  CHECK(chi_squared(counts, 250000.0 / 256) < chi_squared_limit(256));
}

TEMPLATE_TEST_CASE("A longer request continues a shorter one", "[rng]", float, double) {
  const RngKey key{3, Purpose::weight_init, 2};
  const auto normal = normals<TestType>(key, 1000, 17, 4);
  const auto uniform = uniforms<TestType>(key, 1000, 17, 4);
  for (const std::size_t n : {1U, 2U, 3U, 31U, 32U, 33U, 63U, 64U, 65U, 127U, 128U, 129U, 999U}) {
    const auto some = normals<TestType>(key, n, 17, 4);
    CHECK(std::equal(some.begin(), some.end(), normal.begin()));
    const auto flat = uniforms<TestType>(key, n, 17, 4);
    CHECK(std::equal(flat.begin(), flat.end(), uniform.begin()));
  }
}

TEST_CASE("Normal numbers are Box-Muller of Random123's Philox", "[rng]") {
  // random_bits comes from the library, one counter at a time; fill_normal from our eight lanes and polynomials.
  const RngKey key{99, Purpose::drift, 8};
  const std::uint64_t step = (1ULL << 40) + 5;
  const auto x = normals<float>(key, 128 * 40, step, 77);
  for (std::uint32_t block = 0; block < 32 * 40; ++block) {
    const std::uint64_t bits = random_bits(key, step, 77, block);
    const double u = (double(bits >> 41) + 0.5) * 0x1p-23;
    const double v = (double((bits & 0xFFFFFFFFU) >> 9) + 0.5) * 0x1p-23;
    const double radius = std::sqrt(-2 * std::log(u));
    const std::size_t at = (block / 32) * 128 + block % 32;
    // Float roundings of log, sqrt, angle and product: 4 eps of the radius.
    REQUIRE(std::abs(double(x[at]) - radius * std::cos(2 * std::numbers::pi * v)) <= 4 * 1.2e-7 * radius);
    REQUIRE(std::abs(double(x[at + 64]) - radius * std::sin(2 * std::numbers::pi * v)) <= 4 * 1.2e-7 * radius);
  }
  // The double pairs lie on the same circle as their squares say, to rounding: cos² + sin² = 1 is checked through u.
  const auto y = normals<double>(key, 64, step, 77);
  for (std::uint32_t block = 0; block < 32; ++block) {
    const std::uint64_t bits = random_bits(key, step, 77, block);
    const double u = (double(bits >> 12) + 0.5) * 0x1p-52;
    const double square = y[block] * y[block] + y[block + 32] * y[block + 32];
    REQUIRE(square == Approx(-2 * std::log(u)).epsilon(2e-15));
  }
}

TEST_CASE("Vectors of every width draw the same bits", "[rng]") {
  const auto& kernels = philox_kernels();
  CHECK(philox_kernel().name == std::string(kernels.back().name));
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const BlockPlace place = {{0x9E3779B9U * i, ~i}, (std::uint64_t(i) << 33) + 7, i * i, 0xFFFFFFF0U + i};
    BlockWords words, others;
    std::array<float, 4 * kBlocks> numbers, other_numbers;
    kernels.front().blocks(place, words);
    kernels.front().normals(place, numbers.data());
    for (const PhiloxKernel& kernel : kernels) {
      kernel.blocks(place, others);
      kernel.normals(place, other_numbers.data());
      REQUIRE(std::memcmp(&words, &others, sizeof words) == 0);
      REQUIRE(std::memcmp(numbers.data(), other_numbers.data(), sizeof numbers) == 0);
    }
  }
}

TEST_CASE("Neighbouring streams are independent", "[rng]") {
  const std::size_t n = 100000;
  const RngKey key{1, Purpose::read_noise, 1};
  const auto base = normals<float>(key, n);
  const std::vector<std::vector<float>> others = {normals<float>({2, Purpose::read_noise, 1}, n),
                                                  normals<float>({0, Purpose::read_noise, 1}, n),
                                                  normals<float>({1, Purpose::update_noise, 1}, n),
                                                  normals<float>({1, Purpose::read_noise, 2}, n),
                                                  normals<float>({1, Purpose::read_noise, 0}, n),
                                                  normals<float>(key, n, 1, 0),
                                                  normals<float>(key, n, 0, 1),
                                                  normals<float>(key, n, 1ULL << 32, 0),
                                                  normals<float>({1ULL << 32, Purpose::read_noise, 1}, n)};
  for (std::size_t i = 0; i < others.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(correlation(base, others[i])) < kSigmas / std::sqrt(double(n)));
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(std::abs(correlation(others[j], others[i])) < kSigmas / std::sqrt(double(n)));
    }
  }
  // First numbers of 10000 neighbouring seeds, entities, steps and lanes: uniform each.
  std::vector<double> seeds, entities, steps, lanes;
  for (std::uint32_t i = 0; i < 10000; ++i) {
    seeds.push_back(uniforms<double>({i, Purpose::probe, 0}, 1)[0]);
    entities.push_back(uniforms<double>({0, Purpose::probe, i}, 1)[0]);
    steps.push_back(uniforms<double>({0, Purpose::probe, 0}, 1, i)[0]);
    lanes.push_back(uniforms<double>({0, Purpose::probe, 0}, 1, 0, i)[0]);
  }
  for (const auto& list : {seeds, entities, steps, lanes}) {
    CHECK(kolmogorov(list, [](double u) { return u; }) < 2.69);
    double lag = 0;
    for (std::size_t i = 1; i < list.size(); ++i) lag += (list[i] - 0.5) * (list[i - 1] - 0.5);
    CHECK(std::abs(lag) < kSigmas * std::sqrt(double(list.size())) / 12);
  }
}

TEST_CASE("random_below is uniform", "[rng]") {
  const RngKey key{5, Purpose::batch_order, 0};
  for (const std::uint64_t n : {1ULL, 2ULL, 7ULL, 1000ULL}) {
    CAPTURE(n);
    std::vector<double> counts(n, 0.0);
    for (std::uint32_t i = 0; i < 100000; ++i) {
      const std::uint64_t k = random_below(n, key, 3, 1, i);
      REQUIRE(k < n);
      ++counts[k];
    }
    if (n > 1) CHECK(chi_squared(counts, 100000.0 / double(n)) < chi_squared_limit(n));
  }
  // The largest n: the mean of k/n is 1/2 with standard error 1/√(12 N).
  double sum = 0;
  for (std::uint32_t i = 0; i < 10000; ++i) sum += double(random_below(~0ULL, key, 4, 0, i)) * 0x1p-64;
  CHECK(std::abs(sum / 10000 - 0.5) < kSigmas / std::sqrt(12.0 * 10000));
}
