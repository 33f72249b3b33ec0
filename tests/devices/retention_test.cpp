// SPDX-License-Identifier: Apache-2.0
// What stored conductances lose with time, against the closed forms.
#include <cmath>

#include "devices/device_array.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

DeviceSpec plain() {
  DeviceSpec spec;
  spec.model = "soft_bounds";
  return spec;
}

template <class S>
DeviceArray<S> programmed(const DeviceSpec& spec, double g, Index n = 1) {
  DeviceArray<S> array(spec, n, n, {3, 1, 0});
  array.program(Matrix<S>::Constant(n, n, static_cast<S>(g)), 0);
  return array;
}

}  // namespace

TEST_CASE("drift: the exponent over ten decades of time, however time is cut", "[devices]") {
  DeviceSpec spec = plain();
  spec.retention.drift_exponent = 0.06;
  spec.retention.drift_start_s = 20;
  for (int cuts : {1, 7}) {
    auto array = programmed<double>(spec, 10e-6);
    double t = 0;
    for (double next : {10.0, 20.0, 200.0, 1e4, 1e7, 1e10}) {
      for (int k = 0; k < cuts; ++k) array.advance_time((next - t) / cuts, 0);
      t = next;
      const double expected = 10e-6 * std::pow(std::max(t, 20.0) / 20, -0.06);
      // Waiting time not yet applied is below 0.1 % of the age: at most 1e-3 ν = 6e-5 of the conductance.
      CHECK(std::abs(array.conductance()(0, 0) / expected - 1) < 6.1e-5);
    }
  }
}

// What a read sees is the stored conductance and the write noise beside it: time moves the one, the next write the other.
TEST_CASE("time leaves write noise alone, whatever it does to the stored conductance", "[devices]") {
  for (const bool drifts : {true, false}) {
    DeviceSpec spec = plain();
    spec.programming.write_noise = 5;
    if (drifts) {
      spec.retention.drift_exponent = 0.1;
      spec.retention.drift_start_s = 1;
    } else {
      spec.retention.leak_time_s = 100;
    }
    auto array = programmed<double>(spec, 10e-6, 20);
    const Matrix<double> stored = array.cells().g, beside = array.conductance() - stored;
    const double width = 5 * array.cells().mean_step;
    CHECK(beside.cwiseAbs().maxCoeff() > width);  // the largest of 400 normal numbers
    array.advance_time(100, 0);
    // Waiting time not yet applied is below 0.1 % of the age; here no write cut it.
    if (drifts) CHECK((array.cells().g.array() / stored.array() - std::pow(100, -0.1)).abs().maxCoeff() < 2e-4);
    CHECK((array.cells().g - stored).cwiseAbs().minCoeff() > 1e-6);
    CHECK((array.conductance() - array.cells().g - beside).cwiseAbs().maxCoeff() < 1e-12 * 10e-6);
  }
}

TEST_CASE("drift: a float array follows ten million small steps' worth of time", "[devices]") {
  // Steps of 1e-3 of the lag alone would vanish in float; gathered time does not. 2e5 steps of 1 ms after 20 s: t = 220 s.
  DeviceSpec spec = plain();
  spec.retention.drift_exponent = 0.1;
  spec.retention.drift_start_s = 20;
  auto array = programmed<float>(spec, 10e-6);
  array.advance_time(20, 0);
  for (int k = 0; k < 200000; ++k) array.advance_time(1e-3, 0);
  const double expected = 10e-6 * std::pow(11.0, -0.1);
  // Lag 1e-4, and some 2400 applications (ln 11/1e-3) with a rounding of 6e-8 each, adding like a random walk or at
  // worst in line: 1.4e-4.
  CHECK(std::abs(static_cast<double>(array.conductance()(0, 0)) / expected - 1) < 2.5e-4);
}

TEST_CASE("drift: mean and spread of the exponent follow the fit, a write restarts the clock",
          "[devices][statistics]") {
  DeviceSpec spec = plain();
  spec.retention.drift_fit = {{-0.0155, 0.0244, 0.049, 0.1}};
  spec.retention.drift_spread_fit = {{-0.0125, -0.0059, 0.008, 0.045}};
  spec.retention.drift_start_s = 20;
  constexpr Index n = 100;
  const double g = 2.5e-6;  // r = 0.1: ν = 0.0601 ± 0.0229
  auto array = programmed<double>(spec, g, n);
  array.advance_time(2e6, 0);
  const auto nu = ((array.conductance().array() / g).log() / -std::log(1e5)).eval();
  const double mean = -0.0155 * std::log(0.1) + 0.0244;
  const double std_nu = -0.0125 * std::log(0.1) - 0.0059;
  // 10000 devices, 5 standard errors: false alarm 6e-7 each; |ν| folds 0.4 % of the draws (2.6 σ): a bias below 0.1 σ.
  CHECK(std::abs(nu.mean() - mean) < 5 * std_nu / n + 0.002 * std_nu);
  const double sigma = std::sqrt((nu - nu.mean()).square().mean());
  CHECK(std::abs(sigma / std_nu - 1) < 5 / std::sqrt(2.0 * n * n) + 0.02);

  // A pulse sets t to 0: nothing drifts until t0 has passed again, from what was left.
  array.update(Matrix<double>::Constant(n, n, 1), 1e-7, 1);
  const Matrix<double> after = array.conductance();
  array.advance_time(19.9, 2);
  CHECK((array.conductance() == after));
  array.advance_time(1e3, 3);
  CHECK((array.conductance().array() < after.array()).all());
}

TEST_CASE("logarithmic decay: mean and spread grow with ln t", "[devices][statistics]") {
  DeviceSpec spec = plain();
  spec.g_min_S = 9e-6;
  spec.g_max_S = 88.19e-6;
  spec.retention.decay_slope_S = -0.089e-6;
  spec.retention.decay_spread_S = 0.4118e-6;
  spec.retention.decay_spread_slope_S = 0.0420e-6;
  constexpr Index n = 100;
  auto array = programmed<double>(spec, 50e-6, n);
  double t = 0;
  for (double next : {0.5, 10.0, 1e4, 1e7}) {
    array.advance_time(next - t, 0);
    t = next;
    const auto shift = (array.conductance().array() - 50e-6).eval();
    if (t < 1) {
      CHECK((shift == 0).all());
      continue;
    }
    const double span = std::log(t);
    const double sigma = (0.4118 + 0.0420 * span) * 1e-6;
    CHECK(std::abs(shift.mean() + 0.089e-6 * span) < 5 * sigma / n);  // false alarm 6e-7 each
    CHECK(std::abs(std::sqrt((shift - shift.mean()).square().mean()) / sigma - 1) < 5 / std::sqrt(2.0 * n * n));
  }
}

TEST_CASE("leak: exponential towards the rest value, and pulses against it balance", "[devices]") {
  DeviceSpec spec = plain();
  spec.model = "constant_step";
  spec.retention.leak_time_s = 1e-2;
  spec.retention.leak_rest = 0.5;
  const double rest = 0.5 * (spec.g_min_S + spec.g_max_S);
  for (double g : {1e-6, 20e-6}) {
    auto array = programmed<double>(spec, g);
    for (int k = 1; k <= 3000; ++k) {
      array.advance_time(1e-5, 0);
      if (k % 1000 == 0) {
        const double expected = rest + (g - rest) * std::exp(-k * 1e-3);
        // Lag below 1e-4 of the distance; 3000 roundings of 1e-16.
        CHECK(std::abs(array.conductance()(0, 0) - expected) < 1.1e-4 * std::abs(g - rest));
      }
    }
  }
  // One up pulse of s every dt: g settles at rest + s/(exp(dt/T) − 1) just before a pulse.
  auto array = programmed<double>(spec, rest);
  const double s = spec.window_S() / spec.pulses;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    array.update(Matrix<double>::Ones(1, 1), s, k);
    array.advance_time(1e-4, k);
  }
  CHECK(array.conductance()(0, 0) == Approx(rest + s / std::expm1(1e-2)).epsilon(1e-3));
}

TEST_CASE("state-dependent programming error: its standard deviation at each state", "[devices][statistics]") {
  DeviceSpec spec = plain();
  spec.programming.fit_S = {0.26348e-6, 1.9650e-6, -1.1731e-6};
  spec.programming.saturating_S = 0.1e-6;
  spec.programming.saturating_scale_S = 5e-6;
  spec.programming_error = 0.01;
  constexpr Index n = 100;
  for (double r : {0.2, 0.5, 0.7}) {
    const double g = r * spec.g_max_S;
    const auto array = programmed<double>(spec, g, n);
    const double fit = (0.26348 + 1.9650 * r - 1.1731 * r * r) * 1e-6 + 0.1e-6 * (1 - std::exp(-g / 5e-6));
    const double sigma = std::hypot(fit, 0.01 * spec.window_S());
    const auto error = (array.conductance().array() - g).eval();
    // The bounds are more than 5 σ away; 5 standard errors: false alarm 6e-7 each.
    CHECK(std::abs(error.mean()) < 5 * sigma / n);
    CHECK(std::abs(std::sqrt(error.square().mean()) / sigma - 1) < 5 / std::sqrt(2.0 * n * n));
  }
}

TEST_CASE("write noise: beside what is stored, new at each write of that device only", "[devices][statistics]") {
  DeviceSpec spec = plain();
  spec.programming.write_noise = 40;  // pulses: 4 % of the window
  constexpr Index n = 100;
  auto array = programmed<double>(spec, 12e-6, n);
  const auto offset = [&] { return (array.conductance() - array.cells().g).eval(); };
  const Matrix<double> first = offset();
  const double sigma = 40 * spec.window_S() / spec.pulses;
  CHECK(std::abs(std::sqrt(first.array().square().mean()) / sigma - 1) < 5 / std::sqrt(2.0 * n * n));
  Matrix<double> delta = Matrix<double>::Zero(n, n);
  delta.leftCols(n / 2).setConstant(1e-7);
  array.update(delta, 1.0, 5);
  const Matrix<double> second = offset();
  CHECK((second.rightCols(n / 2) - first.rightCols(n / 2)).cwiseAbs().maxCoeff() < 1e-20);
  CHECK((second.leftCols(n / 2).array() != first.leftCols(n / 2).array()).all());
  // Independent of the offset before: correlation below 5/√5000.
  const double product = (second.leftCols(n / 2).array() * first.leftCols(n / 2).array()).mean();
  CHECK(std::abs(product) < 5 * sigma * sigma / std::sqrt(5000.0));
}

TEST_CASE("stuck devices: their shares, values, and that nothing moves them", "[devices][statistics]") {
  for (const char* model : {"ideal", "soft_bounds", "exponential_step"}) {
    DeviceSpec spec = plain();
    spec.model = model;
    spec.faults = {0.05, 0.1, 0.2};
    spec.retention.drift_exponent = 0.1;
    constexpr Index n = 100;
    auto array = programmed<double>(spec, 12e-6, n);
    const Matrix<double> start = array.conductance();
    const auto count = [&](const auto& mask) { return static_cast<double>(mask.count()); };
    // Binomial(10000, p), 5 standard deviations: false alarm 6e-7 each.
    CHECK(std::abs(count(start.array() == array.cells().lower.array()) - 500) < 5 * std::sqrt(10000 * 0.05 * 0.95));
    CHECK(std::abs(count(start.array() == array.cells().upper.array()) - 1000) < 5 * std::sqrt(10000 * 0.1 * 0.9));
    CHECK(std::abs(count(start.array() == 12e-6) - 6500) < 5 * std::sqrt(10000 * 0.65 * 0.35));
    array.update(Matrix<double>::Ones(n, n), 1e-6, 0);
    array.advance_time(1e6, 1);
    array.program(Matrix<double>::Constant(n, n, 15e-6), 1);
    for (Index i = 0; i < start.size(); ++i) {
      const bool stuck = start.data()[i] != 12e-6;
      REQUIRE(array.conductance().data()[i] == (stuck ? start.data()[i] : 15e-6));
    }
  }
}
