// SPDX-License-Identifier: Apache-2.0
// Noise with memory against its closed forms: variance, correlation, spectrum; and that it survives a checkpoint.
#include <cmath>
#include <complex>

#include "devices/device_array.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr Index n = 60;

DeviceArray<double> at(const DeviceSpec& spec, double g, Index size = n) {
  DeviceArray<double> array(spec, size, size, {3, 1, 0});
  array.program(Matrix<double>::Constant(size, size, g), 0);
  return array;
}

/// One-sided spectrum at the frequencies k/(samples dt) of all devices' relative deviations, averaged over the devices:
/// (2 dt/samples) |Σ y exp(−2πi k t/samples)|².
double spectrum(const std::vector<Matrix<double>>& y, double dt, int k) {
  const double samples = static_cast<double>(y.size());
  double sum = 0;
  for (Index i = 0; i < y[0].size(); ++i) {
    std::complex<double> x = 0;
    for (std::size_t t = 0; t < y.size(); ++t) {
      x += y[t].data()[i] * std::polar(1.0, -2 * M_PI * k * static_cast<double>(t) / samples);
    }
    sum += 2 * dt / samples * std::norm(x);
  }
  return sum / static_cast<double>(y[0].size());
}

/// The deviations of a run of `samples` steps of dt.
std::vector<Matrix<double>> record(DeviceArray<double>& array, double g, double dt, int samples) {
  std::vector<Matrix<double>> y;
  for (int t = 0; t < samples; ++t) {
    array.advance_time(dt, static_cast<std::uint64_t>(t));
    y.push_back((array.conductance().array() / g - 1).matrix());
  }
  return y;
}

}  // namespace

TEST_CASE("telegraph noise: share, variance, correlation and switching of one trap", "[devices][statistics]") {
  DeviceSpec spec;
  spec.telegraph = {0.5, 0.04, 0, 3e-3, 1e-3, 0};
  auto array = at(spec, 10e-6);
  const double p = 0.75;
  const double rate = 1 / 3e-3 + 1 / 1e-3;
  const double dt = 0.4e-3;
  const auto y = record(array, 10e-6, dt, 3);
  const auto trap = (y[0].array().abs() > 1e-12).eval();
  const double traps = static_cast<double>(trap.count());
  CHECK(std::abs(traps - 1800) < 5 * std::sqrt(3600 * 0.25));  // Binomial(3600, 1/2), false alarm 6e-7
  // The two values are a(1 − p) and −a p, nothing else.
  for (Index i = 0; i < y[0].size(); ++i) {
    if (!trap.data()[i]) continue;
    const double value = y[0].data()[i];
    REQUIRE((std::abs(value - 0.01) < 1e-12 || std::abs(value + 0.03) < 1e-12));
  }
  const double variance = 0.04 * 0.04 * p * (1 - p);
  // The square of a deviation has standard deviation a² √(p(1−p)) |1 − 2p| = 2/√3 of the variance; products of two times
  // less. 5 standard errors: false alarm 6e-7 each.
  const double error = 5 * variance * 2 / std::sqrt(3.0) / std::sqrt(traps);
  CHECK(std::abs(y[0].squaredNorm() / traps - variance) < error);
  const double product = (y[0].array() * y[2].array()).sum() / traps;
  CHECK(std::abs(product - variance * std::exp(-2 * dt * rate)) < error);
  CHECK(std::abs(y[2].sum() / traps) < 5 * std::sqrt(variance / traps));
}

TEST_CASE("telegraph noise: Lorentzian spectrum, knee at 1/(2 pi tau_c)", "[devices][statistics]") {
  DeviceSpec spec;
  spec.telegraph = {1, 0.04, 0, 2e-3, 2e-3, 0};
  auto array = at(spec, 10e-6, 40);
  const double dt = 0.1e-3;
  const int samples = 512;
  const auto y = record(array, 10e-6, dt, samples);
  // Sampled process of correlation c = exp(−dt/τ_c): one-sided spectrum 2 dt σ² (1 − c²)/(1 − 2c cos ω + c²), which is the
  // Lorentzian 4σ²τ_c/(1 + (2πfτ_c)²) for f well below 1/dt.
  const double tau = 1e-3;
  const double variance = 0.04 * 0.04 / 4;
  const double c = std::exp(-dt / tau);
  for (int k : {2, 8, 40}) {
    const double omega = 2 * M_PI * k / samples;
    const double exact = 2 * dt * variance * (1 - c * c) / (1 - 2 * c * std::cos(omega) + c * c);
    const double f = k / (samples * dt);
    CHECK(exact == Approx(4 * variance * tau / (1 + std::pow(2 * M_PI * f * tau, 2))).epsilon(0.03));
    // A periodogram value is exponential: 1600 devices, 5 standard errors 12.5 % (false alarm 6e-7); leakage of the
    // rectangular window adds at most τ_c/(samples dt) = 2 % near the knee.
    CHECK(spectrum(y, dt, k) == Approx(exact).epsilon(0.15));
  }
}

TEST_CASE("1/f noise: spectrum Q^2/f over more than three decades, variance Q^2 ln", "[devices][statistics]") {
  DeviceSpec spec;
  spec.flicker.noise = 0.01;
  // Two records of different steps, each sampled five times faster than its fastest process: f = 16 Hz to 78 kHz.
  double lowest = 0;
  double highest = 0;
  for (double dt : {1e-3, 1e-6}) {
    spec.flicker.fastest_s = 5 * dt;
    spec.flicker.slowest_s = 5e5 * dt;
    auto array = at(spec, 10e-6, 40);
    const int samples = 1024;
    const auto y = record(array, 10e-6, dt, samples);
    for (int k : {16, 40}) {
      const double f = k / (samples * dt);
      const double s = spectrum(y, dt, k);
      // Ripple of one process per decade 5.5 %; roll-off of the fastest process at f = 31.8/(1000 dt): with one below it
      // missing, at most 1/(1 + 1/(2 pi f tau)^2) of its share, 15 %; leakage of slow processes through the rectangular
      // window, of order 1/k = 6 %; periodogram of 1600 devices: 5 standard errors are 12.5 %. Together 39 %.
      CHECK(s == Approx(1e-4 / f).epsilon(0.39));
      if (lowest == 0) lowest = s;
      highest = s;
    }
  }
  // Slope over ln(2.5e3): 39 % at both ends change it by at most ln(1.39/0.61)/ln(2.5e3) = 0.105.
  CHECK(std::log(highest / lowest) / std::log(2.5 * 1e3) == Approx(-1).margin(0.105));
  spec.flicker.fastest_s = 1e-6;
  spec.flicker.slowest_s = 1e2;
  // Variance: 9 processes of variance Q² ln 10.
  const auto array = at(spec, 10e-6, 100);
  const double variance = (array.conductance().array() / 10e-6 - 1).square().mean();
  CHECK(variance == Approx(9 * 1e-4 * std::log(10.0)).epsilon(5 * std::sqrt(2.0 / 10000)));
}

TEST_CASE("1/f noise: memory between looks, published size at the state", "[devices][statistics]") {
  DeviceSpec spec;
  spec.flicker.noise = 0.0088;
  spec.flicker.power = 0.65;
  spec.flicker.limit = 0.2;
  spec.flicker.fastest_s = 250e-9;
  spec.flicker.slowest_s = 250;
  auto array = at(spec, 5e-6, 100);
  const Matrix<double> first = (array.conductance().array() / 5e-6 - 1).matrix();
  const double q = 0.0088 / std::pow(0.2, 0.65);
  CHECK(first.squaredNorm() / 10000 == Approx(10 * std::log(10.0) * q * q).epsilon(5 * std::sqrt(2.0 / 10000)));
  // Slow processes do not move within 1 us (a training step): the noise is common to all its phases but for the fast ones.
  array.advance_time(1e-6, 1);
  const Matrix<double> second = (array.conductance().array() / 5e-6 - 1).matrix();
  double kept = 0;
  for (int k = 0; k < 10; ++k) kept += std::exp(-1e-6 / (250e-9 * std::pow(10.0, k))) / 10;
  const double correlation = (first.array() * second.array()).sum() / first.squaredNorm();
  // Standard error of a correlation ρ: (1 − ρ²)/√N; processes that wait (below 1 % of τ) count as not moved: + 1e-3.
  CHECK(std::abs(correlation - kept) < 5 * (1 - kept * kept) / 100 + 2e-3);
}

TEST_CASE("slow state survives a checkpoint to the bit, for any number of threads", "[devices]") {
  DeviceSpec spec;
  spec.retention.drift_exponent = 0.05;
  spec.retention.drift_spread = 0.02;
  spec.retention.decay_spread_S = 1e-8;
  spec.retention.leak_time_s = 10;
  spec.retention.leak_spread = 0.1;
  spec.retention.drift_start_s = 1e-3;
  spec.telegraph = {0.3, 0.05, 0.2, 1e-3, 2e-3, 1};
  spec.flicker.noise = 0.01;
  spec.programming.write_noise = 3;
  spec.faults = {0.01, 0.01, 0.01};
  const auto step = [](DeviceArray<float>& array, std::uint64_t k) {
    array.update(Matrix<float>::Constant(60, 50, k % 2 ? -1.0F : 1.0F), 1e-7F, k);
    array.advance_time(1.7e-3 * static_cast<double>(k % 5), k);
  };
  DeviceArray<float> whole(spec, 60, 50, {3, 1, 0}, 1);
  whole.program(Matrix<float>::Constant(60, 50, 10e-6F), 0);
  DeviceArray<float> resumed(spec, 60, 50, {3, 1, 0}, 3);
  for (std::uint64_t k = 0; k < 20; ++k) {
    if (k == 11) {  // copy every array that a checkpoint holds
      const auto from = whole.slow_state();
      const auto to = resumed.slow_state();
      REQUIRE(from.size() == to.size());
      REQUIRE(from.size() == 21);  // 5 of retention, 3 of traps, 12 of 1/f, 1 of writes
      for (std::size_t a = 0; a < from.size(); ++a) *to[a].values = *from[a].values;
      resumed.cells().g = whole.cells().g;
      resumed.state_restored();
      CHECK((resumed.conductance() == whole.conductance()));
    }
    step(whole, k);
    if (k >= 11) step(resumed, k);
  }
  CHECK((resumed.conductance() == whole.conductance()));
  CHECK((resumed.conductance() != resumed.cells().g));
}
