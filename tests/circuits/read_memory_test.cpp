// SPDX-License-Identifier: Apache-2.0
// Read noise behind the pole of an amplifier: variance, correlation from read to read, density at zero frequency, and the
// limit of what a curve makes of it for short steps.
#include <cmath>
#include <numbers>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {
namespace {

constexpr Index kRows = 4000;  // independent sequences, side by side
constexpr double kPole = 0.1;  // τ_a in τ

CrossbarSpec noisy_spec(double pole) {
  CrossbarSpec spec;
  spec.device.read_noise = 0.02;
  if (pole > 0) spec.circuit.amplifier_bandwidth_Hz = 1 / (2 * std::numbers::pi * pole * spec.circuit.time_constant_s);
  return spec;
}

/// The noise of consecutive reads of one drive by an array with one output, (kRows, reads).
Matrix<double> record(const CrossbarSpec& spec, double interval, int reads, Store store = Store::assign) {
  const Crossbar<double> array(spec, test::random_matrix<double>(6, 1, 1, 0.4), 0, 1);
  const Matrix<double> x = test::random_matrix<double>(1, 6, 2).replicate(kRows, 1);
  const Matrix<double> exact = x * array.weights();
  ReadMemory memory;
  ReadContext read;
  read.seed = 3;
  read.memory = &memory;
  read.relaxation = {interval, interval};
  Matrix<double> all(kRows, reads);
  Matrix<double> y(kRows, 1);
  for (int n = 0; n < reads; ++n) {
    y.setZero();
    array.forward(x, y, {0, 1}, store, read);
    all.col(n) = y - exact;
  }
  return all;
}

/// v of that read: two devices per weight, σ W_G/k each, times Σ x².
double density(const CrossbarSpec& spec) {
  const Crossbar<double> array(spec, test::random_matrix<double>(6, 1, 1, 0.4), 0, 1);
  const double one = spec.device.read_noise * spec.device.window_S() / array.siemens_per_weight();
  return 2 * one * one * test::random_matrix<double>(1, 6, 2).squaredNorm();
}

}  // namespace

TEST_CASE("amplifier pole: noise of reads is an AR(1) process of the right variance and density",
          "[noise][statistics]") {
  const CrossbarSpec spec = noisy_spec(kPole);
  const double v = density(spec);
  for (const double interval : {0.01, 0.1, 1.0}) {
    CAPTURE(interval);
    constexpr int reads = 32;
    const Matrix<double> noise = record(spec, interval, reads);
    const double rho = std::exp(-interval / kPole);
    const double variance = v * std::tanh(interval / (2 * kPole)) / interval;
    // Variances and covariances of kRows independent sequences: 5 √(2/n) (false alarm 6e-7), at the first and a late read.
    const double margin = 5 * std::sqrt(2.0 / kRows);
    for (const int n : {0, reads - 3}) {
      CHECK(noise.col(n).squaredNorm() / kRows / variance == Approx(1).margin(margin));
      CHECK(noise.col(n).dot(noise.col(n + 1)) / kRows / variance == Approx(rho).margin(margin));
      CHECK(noise.col(n).dot(noise.col(n + 2)) / kRows / variance == Approx(rho * rho).margin(margin));
    }
    // The mean of n reads has the variance of an AR(1) process of that density: v/(nΔ) up to the ends of the record,
    // 1 − 2ρ(1 − ρⁿ)/(n(1 − ρ²)).
    const double ends = 1 - 2 * rho * (1 - std::pow(rho, reads)) / (reads * (1 - rho * rho));
    const double expected = v / (reads * interval) * ends;
    CHECK(noise.rowwise().mean().squaredNorm() / kRows / expected == Approx(1).margin(margin));
  }
}

TEST_CASE("amplifier pole: the mean of a rectified read has a limit for short steps", "[noise][statistics]") {
  const CrossbarSpec behind = noisy_spec(kPole);
  const double v = density(behind);
  const double limit = std::sqrt(v / (2 * kPole)) / std::sqrt(2 * std::numbers::pi);  // E max(0, N(0, v/2τ_a))
  for (const double interval : {0.1, 0.01, 0.001}) {
    CAPTURE(interval);
    const double mean = record(behind, interval, 1).cwiseMax(0.0).mean();
    // Standard deviation of max(0, ξ) over its mean is 1.46; tanh(x)/x ≥ 1 − x²/3 at x = Δ/2τ_a, its root half of that.
    const double bias = std::pow(interval / (2 * kPole), 2) / 6;
    CHECK(std::abs(mean / limit - 1) <= 5 * 1.46 / std::sqrt(double(kRows)) + bias);
    // Without a pole it grows like Δ^(−1/2).
    const double white = record(noisy_spec(0), interval, 1).cwiseMax(0.0).mean();
    CHECK(std::abs(white / (std::sqrt(v / interval) / std::sqrt(2 * std::numbers::pi)) - 1) <=
          5 * 1.46 / std::sqrt(double(kRows)));
  }
}

TEST_CASE("amplifier pole: what is summed at a node leaves the pole to the node", "[noise][statistics]") {
  const CrossbarSpec spec = noisy_spec(kPole);
  const Matrix<double> noise = record(spec, 0.01, 2, Store::add);
  CHECK(noise.col(0).squaredNorm() / kRows / (density(spec) / 0.01) == Approx(1).margin(5 * std::sqrt(2.0 / kRows)));
  // Independent reads: the correlation of kRows pairs has the standard deviation 1/√n.
  CHECK(std::abs(noise.col(0).dot(noise.col(1)) / noise.col(0).squaredNorm()) <= 5 / std::sqrt(double(kRows)));
}

TEST_CASE("read memory: a sequence begins anew, whatever was read before", "[noise]") {
  const CrossbarSpec spec = noisy_spec(kPole);
  Crossbar<double> array(spec, test::random_matrix<double>(4, 6, 2, 0.3), 0, 1);
  const Circuit<double> block = test::one_node_circuit<double>(
      4, [](auto& shared) { shared.template place<HopfieldMemory<double>>(6); }, 0, array, {1.0, 0.0});
  const Matrix<double> z = test::random_matrix<double>(2, 4, 4);
  ReadContext read;
  read.seed = 5;
  const auto forces = [&](CircuitDynamics<double>& dynamics, std::uint32_t sequence) {
    read.sequence = sequence;
    dynamics.bind(z, read);
    dynamics.set_read_timing({0.02, 0.02});
    Matrix<double> both(4, 4);
    dynamics.force(z, both.topRows(2));
    dynamics.force(z, both.bottomRows(2));
    return both;
  };
  CircuitDynamics<double> one(block, 2, 2);
  CircuitDynamics<double> other(block, 2, 2);
  const Matrix<double> first = forces(one, 0);
  const Matrix<double> second = forces(one, 1);
  CHECK(first != second);
  CHECK(forces(other, 1) == second);  // another thread, which has not seen sequence 0
  CHECK(forces(one, 0) == first);
}

TEST_CASE("read memory: line states survive growth and are unread at first", "[noise]") {
  LineMemory<double> memory;
  Matrix<double>& small = memory.process(1, 2, 3);
  CHECK(std::isnan(small(1, 2)));
  small.setConstant(7);
  const Matrix<double>& large = memory.process(1, 4, 3);
  CHECK(large(1, 2) == 7);
  CHECK(std::isnan(large(3, 0)));
  memory.clear();
  CHECK(std::isnan(memory.process(1, 4, 3)(1, 2)));
}

}  // namespace nudge
