// SPDX-License-Identifier: Apache-2.0
// Weak error of the relaxation against its step, for a whole block: mean and variance of the states of a noisy circuit with
// projections, rectifier and return through the same devices.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/terms/hopfield_memory.hpp"
#include "sim/read_timing.hpp"
#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {
namespace {

constexpr Index kChannels = 4;
constexpr Index kMemories = 8;
constexpr Index kCopies = 4000;
constexpr double kLeak = 1.5;
constexpr int kSamples = 6;  // of all copies, 3 τ apart

struct Moments {
  Matrix<double> mean;
  double variance = 0;  ///< of one node, mean over nodes
};

Matrix<double> memory_weights() { return test::random_matrix<double>(kChannels, kMemories, 1, 0.15); }

/// Stationary moments of the block at a step of `share` of 1/L; pole: τ_a of the amplifiers, 0: none.
Moments moments(double share, double pole, double read_noise = 0.03) {
  CrossbarSpec spec;
  spec.device.read_noise = read_noise;
  if (pole > 0) spec.circuit.amplifier_bandwidth_Hz = 1 / (2 * std::numbers::pi * pole * spec.circuit.time_constant_s);
  Crossbar<double> array(spec, memory_weights(), 0, 1);
  const Circuit<double> block = test::one_node_circuit<double>(
      kChannels, [](auto& shared) { shared.template place<HopfieldMemory<double>>(kMemories); }, 0, array,
      {1.0, kLeak - 1});
  // All copies are one long "sequence" of tokens that do not see each other.
  CircuitDynamics<double> dynamics(block, kCopies, 1);
  ReadContext read;
  read.seed = 7;
  dynamics.bind(test::random_matrix<double>(1, kChannels, 3).replicate(kCopies, 1), read);
  Matrix<double> z = Matrix<double>::Zero(kCopies, kChannels);
  SettleWorkspace<double> scratch;
  SettleOptions options{.step = share / kLeak, .final_residual = false, .divergence_ratio = 1e9};
  options.motion = Motion::of_amplifiers(amplifier_lag(spec.circuit));
  const double duration = euler_timing(options.step, kLeak, options.motion).duration;
  Moments out;
  out.mean.setZero(1, kChannels);
  for (int n = 0; n < kSamples; ++n) {
    options.max_steps = static_cast<int>(std::ceil((n == 0 ? 12 : 3) / duration));
    settle<double>(dynamics, z, options, scratch);
    const Matrix<double> mean = z.colwise().mean();
    out.mean += mean / kSamples;
    out.variance += (z.rowwise() - mean.row(0)).squaredNorm() / double(z.size()) / kSamples;
  }
  return out;
}

/// Of samples 3 τ apart e^{−2·3·rate} of a variance is common, below 1 % where the slowest rate is about 1: independent.
double variance_margin() { return 5 * std::sqrt(2.0 / (double(kSamples) * kCopies * kChannels)); }

}  // namespace

TEST_CASE("step: the block's stationary moments hardly depend on it", "[step][statistics]") {
  // Behind a pole of 0.1 τ. Without noise correction the variance would be 2/(2 − 0.7) = 1.54 times the right one at 0.7.
  const Moments fine = moments(1.0 / 32, 0.1);
  const Moments quiet = moments(1.0 / 32, 0.1, 0);
  REQUIRE(fine.variance > 0);
  for (const double share : {0.125, 0.35, 0.7, 0.9}) {
    CAPTURE(share);
    const Moments coarse = moments(share, 0.1);
    // The leak L and its noise are exact, the rest μ z of a mode, μ an eigenvalue of 2 W G Wᵀ (G the gates) and so at most
    // 2 |W|², is followed by Euler's rule: with θ = L h and m = μ/L a step multiplies by ρ = m + (1 − m) e^{−θ} and the
    // stationary variance is (1 − e^{−2θ})(1 − m)/(1 − ρ²) = 1 − mθ/2 + O(θ²) times the right one ("[.step_table]").
    const double theta = share, m = 2 * std::pow(test::singular_values(memory_weights())(0), 2) / kLeak;
    REQUIRE(m < 1);
    const double rho = m + (1 - m) * std::exp(-theta);
    const double first_order = 1 - (1 - std::exp(-2 * theta)) * (1 - m) / (1 - rho * rho);
    CHECK(std::abs(coarse.variance / fine.variance - 1) <= first_order + variance_margin());
    // Shift of the mean by noise through rectifiers: as large as the noise allows, its error first order in the step.
    const double shift = (fine.mean - quiet.mean).norm();
    const double noise = 5 * std::sqrt(2 * kChannels * fine.variance / (double(kSamples) * kCopies));
    CHECK((coarse.mean - fine.mean).norm() <= share * shift + noise);
  }
}

TEST_CASE("step: table of weak errors", "[.step_table]") {
  for (const double pole : {0.0, 0.1}) {
    const Moments fine = moments(1.0 / 64, pole);
    const Moments quiet = moments(1.0 / 64, pole, 0);
    std::printf("pole %.2g tau: variance %.4e, shift of the mean by noise %.3e\n", pole, fine.variance,
                (fine.mean - quiet.mean).norm());
    for (const double share : {0.125, 0.25, 0.35, 0.5, 0.7, 0.9}) {
      const Moments coarse = moments(share, pole);
      std::printf("| %.3g | %.3f | %+.4f | %.4f |\n", share, 2 / (2 - share), coarse.variance / fine.variance - 1,
                  (coarse.mean - fine.mean).norm() / fine.mean.norm());
    }
  }
}

}  // namespace nudge
