// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/models/tapes/free_transformer_parts.hpp"

#include <cmath>

#include "mixers/free_transformer/model.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

constexpr Index kBits = 4;
constexpr Index kTokens = 20000;

/// Values of bit h over the tokens of one sequence at constant logits.
std::vector<std::uint8_t> draw(const StochasticBits& devices, double gain, const Matrix<double>& logits,
                               std::uint64_t step = 0, std::uint32_t sequence = 0) {
  std::vector<std::uint8_t> bits;
  DeviceBits<double>(devices, gain, step, sequence).draw(logits, bits);
  return bits;
}

double mean(const std::vector<std::uint8_t>& bits, Index h) {
  double ones = 0;
  for (std::size_t n = static_cast<std::size_t>(h); n < bits.size(); n += kBits) ones += bits[n];
  return ones / static_cast<double>(kTokens);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Matrix<double> constant_logits() {
  Matrix<double> logits(1, kBits);
  logits << -1.5, 0.0, 0.7, 3.0;
  return logits.replicate(kTokens, 1);
}

}  // namespace

TEST_CASE("ideal devices of any gain draw bits with probability sigmoid of the logit", "[device_bits]") {
  const Matrix<double> logits = constant_logits();
  for (const double gain : {1.0, 2.0}) {
    const StochasticBits devices({.gain = gain}, kBits, {7, 0});
    const auto bits = draw(devices, gain, logits);
    for (Index h = 0; h < kBits; ++h) {
      const double p = sigmoid(logits(0, h));
      // Five standard deviations: eight checks, a false alarm in 2e5 seeds.
      CHECK(std::abs(mean(bits, h) - p) < 5 * std::sqrt(p * (1 - p) / static_cast<double>(kTokens)));
    }
    CHECK(bits == draw(devices, gain, logits));
    CHECK(bits != draw(devices, gain, logits, 1));
    CHECK(bits != draw(devices, gain, logits, 0, 1));
  }
}

TEST_CASE("offset, spread and correlation of the devices show in the bits", "[device_bits]") {
  const StochasticBitSpec spec{.gain = 2, .offset = 0.2, .gain_spread = 0.2, .offset_spread = 0.3, .correlation = 0.6};
  const StochasticBits devices(spec, kBits, {8, 0});
  const Matrix<double> logits = constant_logits();
  const auto bits = draw(devices, spec.gain, logits);
  for (Index h = 0; h < kBits; ++h) {
    const double p = sigmoid(devices.gain(h) / spec.gain * logits(0, h) - devices.gain(h) * devices.offset(h));
    // Correlated draws count for (1 + ρ)/(1 − ρ) = 4 times fewer.
    const double deviation = std::sqrt(4 * p * (1 - p) / static_cast<double>(kTokens));
    CHECK(std::abs(mean(bits, h) - p) < 5 * deviation);
    double both = 0;
    for (std::size_t n = static_cast<std::size_t>(h); n + kBits < bits.size(); n += kBits) {
      both += bits[n] * bits[n + kBits];
    }
    const double rho = (both / static_cast<double>(kTokens - 1) - p * p) / (p * (1 - p));
    // The estimate of a lag-1 correlation from n values has a deviation of about √((1 + ρ²)/n)/√(p(1 − p)) < 0.04 here.
    CHECK(std::abs(rho - spec.correlation) < 0.2);
  }
}

TEST_CASE("a Free Transformer takes its latents from devices", "[device_bits]") {
  FreeTransformerShape shape;
  shape.bits = kBits;
  std::vector<Matrix<double>> parameters;
  for (const Field& field : free_transformer_fields(shape)) {
    parameters.push_back(random_matrix<double>(field.rows(), field.cols(), parameters.size() + 1, field.deviation));
    parameters.back().array() += field.mean;
  }
  const StochasticBits devices({.gain = 2, .offset_spread = 0.1, .correlation = 0.3}, kBits, {9, 0});
  DeviceBits<double> sampler(devices, 2, 0, 0);
  const std::vector<int> prompt = {1, 4, 0, 6};
  const auto latents = prefill_latents(shape, parameters, prompt, 12, sampler, 3, 0);
  CHECK(latents.size() == 12);
  const auto drawn = prior_latents<double>(12, shape.bits, sampler);
  CHECK(drawn.size() == 12);
  CHECK(*std::max_element(drawn.begin(), drawn.end()) < (1 << kBits));
  CHECK(generate(shape, parameters, prompt, drawn, 1.0, 3, 0).size() == 12);
}
