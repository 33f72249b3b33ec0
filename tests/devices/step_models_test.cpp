// SPDX-License-Identifier: Apache-2.0
// Each step model against its equation, pulse by pulse.
#include <cmath>
#include <functional>
#include <random>

#include "devices/device_array.hpp"
#include "devices/registry.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr double window_S = 20e-6;

DeviceSpec make(const std::string& model, double pulses) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 5e-6;
  spec.g_max_S = 25e-6;
  spec.pulses = pulses;
  return spec;
}

/// An array of n devices at conductance g.
DeviceArray<double> at(const DeviceSpec& spec, double g, Index n = 1) {
  DeviceArray<double> array(spec, n, n, {1, 2, 0});
  array.cells().g.setConstant(g);
  return array;
}

/// Conductance after a request of k mean pulses (k < 0: down).
double after(const DeviceSpec& spec, double g, double k) {
  auto array = at(spec, g);
  array.update(Matrix<double>::Ones(1, 1), k * spec.window_S() / spec.pulses, 0);
  return array.conductance()(0, 0);
}

// Closed form and pulse-by-pulse loop differ by the roundings of k ≤ 100 pulses and of expm1/log1p: 200 eps of 25 uS.
constexpr double rounding_S = 200 * 2.2e-16 * 25e-6;

}  // namespace

TEST_CASE("soft bounds: k pulses equal the recursion of single pulses", "[devices]") {
  DeviceSpec spec = make("soft_bounds", 50);
  spec.asymmetry = 0.4;  // down pulses 0.6 times the up pulses
  const double s = window_S / 50;
  for (int k : {1, 7, 60}) {
    double up = 8e-6;
    double down = 22e-6;
    for (int i = 0; i < k; ++i) {
      up += s * (25e-6 - up) / 10e-6;
      down -= 0.6 * s * (down - 5e-6) / 10e-6;
    }
    CHECK(std::abs(after(spec, 8e-6, k) - up) <= rounding_S);
    CHECK(std::abs(after(spec, 22e-6, -k) - down) <= rounding_S);
  }
}

TEST_CASE("soft bounds: alternating pulses end at the symmetry point", "[devices]") {
  DeviceSpec spec = make("soft_bounds", 50);
  spec.asymmetry = 0.4;
  auto array = at(spec, 24e-6);
  for (std::uint64_t i = 0; i < 4000; ++i) {
    array.update(Matrix<double>::Ones(1, 1), (i % 2 ? -1 : 1) * window_S / 50, i);
  }
  // Fixed point of x → (1 − q_d)(x + q_u (1 − x)), x = (g − g_min)/window, q_u = 2/50, q_d = 0.6 · 2/50; the distance
  // shrinks by (1 − q_u)(1 − q_d) = 0.937 per pair, 0.937^2000 < 1e-56.
  const double q_up = 0.04;
  const double q_down = 0.024;
  const double x = (1 - q_down) * q_up / (1 - (1 - q_down) * (1 - q_up));
  CHECK(std::abs(array.conductance()(0, 0) - (5e-6 + window_S * x)) <= 20 * rounding_S);
  // First order of the doc block: x = q_u/(q_u + q_d) = 0.625 up to terms of order q.
  CHECK(std::abs(x - 0.625) < 0.04);
}

TEST_CASE("linear step: k pulses equal the recursion, off-centre reference", "[devices]") {
  DeviceSpec spec = make("linear_step", 80);
  spec.reference = 0.4;
  spec.shape = {{"gamma_up", 0.3}, {"gamma_down", 0.8}};
  const double s = window_S / 80;
  const double reference = 5e-6 + 0.4 * window_S;
  for (int k : {1, 5, 30}) {
    double up = 10e-6;
    double down = 20e-6;
    for (int i = 0; i < k; ++i) {
      up += s * (1 - 0.3 * (up - reference) / (25e-6 - reference));
      down -= s * (1 - 0.8 * (reference - down) / (reference - 5e-6));
    }
    CHECK(std::abs(after(spec, 10e-6, k) - up) <= rounding_S);
    CHECK(std::abs(after(spec, 20e-6, -k) - down) <= rounding_S);
  }
}

TEST_CASE("linear step: slopes of each device have the given spread and stay with it", "[devices][statistics]") {
  DeviceSpec spec = make("linear_step", 1e5);
  spec.shape = {{"gamma_up", 0.5}, {"gamma_down", 0.3}, {"gamma_spread", 0.1}};
  constexpr Index n = 20000;
  DeviceArray<double> array(spec, 1, n, {3, 0, 0});
  const double middle = 15e-6;
  const double s = window_S / 1e5;
  const auto slopes = [&](int direction, std::uint64_t number) {
    // One pulse at g: s (1 − γ (g − g_ref)/(g_bound − g_ref)), half way to the bound that it moves to.
    array.program(Matrix<double>::Constant(1, n, middle + direction * 5e-6), number);
    const Matrix<double> before = array.conductance();
    array.pulse(Matrix<double>::Constant(1, n, direction), number);
    return Eigen::ArrayXd(2 * (1 - direction * (array.conductance() - before).row(0).transpose().array() / s));
  };
  const Eigen::ArrayXd up = slopes(1, 0);
  const Eigen::ArrayXd down = slopes(-1, 1);
  // 5 standard errors: σ/√n of a mean, √(2/n) of a variance, 1/√n of a correlation (false alarms 6e-7 each).
  const double error = 0.1 / std::sqrt(static_cast<double>(n));
  CHECK(std::abs(up.mean() - 0.5) <= 5 * error);
  CHECK(std::abs(down.mean() - 0.3) <= 5 * error + 1e-4);  // 0.13 % of the devices are folded at 0
  CHECK(std::abs((up - up.mean()).square().mean() / 0.01 - 1) <= 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(((up - 0.5) * (down - 0.3)).mean() / 0.01) <= 5 / std::sqrt(static_cast<double>(n)));
  // Static: the same again; a device picked out of the array keeps its own.
  CHECK((slopes(1, 2) - up).abs().maxCoeff() < 1e-8);
  array.program(Matrix<double>::Constant(1, n, middle + 5e-6), 3);
  const double start = array.conductance()(0, 77);
  array.pulse({77}, Matrix<double>::Ones(1, 1), 3);
  CHECK(2 * (1 - (array.conductance()(0, 77) - start) / s) == Approx(up[77]).margin(1e-8));
}

TEST_CASE("constant step: linear up to the bound", "[devices]") {
  const DeviceSpec spec = make("constant_step", 100);
  CHECK(std::abs(after(spec, 10e-6, 25) - 15e-6) <= rounding_S);
  CHECK(std::abs(after(spec, 10e-6, -10.5) - 7.9e-6) <= rounding_S);
  CHECK(after(spec, 20e-6, 90) == Approx(25e-6).epsilon(1e-14));
  CHECK(after(spec, 20e-6, -900) == Approx(5e-6).epsilon(1e-14));
}

TEST_CASE("exponential step: the closed form solves its differential equation", "[devices]") {
  const DeviceSpec spec = make("exponential_step", 1481.48);
  const double s = window_S / spec.pulses;
  // Classical Runge–Kutta with 4000 steps: error of order (n dt f')⁴, far below 1e-9 of the window here.
  const auto integrate = [&](double g, double n, bool up) {
    const auto rate = [&](double at_g) {
      const double z = 2 * -0.5 * (at_g - 15e-6) / window_S - 0.5;
      return up ? s * (1 + 1.18445 * std::exp(5 * z)) : -s * (1 + 0.081404 * std::exp(-5 * z));
    };
    const double h = n / 4000;
    for (int i = 0; i < 4000; ++i) {
      const double k1 = rate(g);
      const double k2 = rate(g + 0.5 * h * k1);
      const double k3 = rate(g + 0.5 * h * k2);
      const double k4 = rate(g + h * k3);
      g += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return g;
  };
  for (double n : {0.01, 1.0, 40.0, 400.0}) {
    CHECK(std::abs(after(spec, 6e-6, n) - integrate(6e-6, n, true)) <= 1e-9 * window_S);
    CHECK(std::abs(after(spec, 23e-6, -n) - integrate(23e-6, n, false)) <= 1e-9 * window_S);
  }
  // Pulse by pulse instead of mean-field: the doc block's error, gamma kappa s/2 per unit of change (here 0.17 %).
  double g = 6e-6;
  for (int i = 0; i < 400; ++i) g += s * (1 + 1.18445 * std::exp(5 * (2 * -0.5 * (g - 15e-6) / window_S - 0.5)));
  CHECK(std::abs(after(spec, 6e-6, 400) - g) <= 0.0034 * (g - 6e-6));
}

TEST_CASE("a step that has vanished stays vanished", "[devices]") {
  DeviceSpec spec = make("exponential_step", 100);
  spec.shape = {{"A_up", 2.0}, {"A_down", 2.0}, {"a", 1.0}, {"b", 0.0}};  // 1 − 2 e^{γz} ≤ 0 from z ≥ −0.139 on
  CHECK(after(spec, 15e-6, 50) == 15e-6);
  CHECK(after(spec, 15e-6, -50) == 15e-6);
  CHECK(after(make("soft_bounds", 100), 25e-6, 50) == Approx(25e-6).epsilon(1e-14));
}

TEST_CASE("noisy soft-bounds pulses have the mean and variance of single noisy pulses", "[devices][statistics]") {
  DeviceSpec spec = make("soft_bounds", 20);
  spec.update = PulseMode::pulsed;
  spec.update_noise = 0.5;
  constexpr Index n = 200;
  constexpr int k = 10;
  auto array = at(spec, 15e-6, n);
  array.update(Matrix<double>::Ones(n, n), k * window_S / 20, 7);
  const auto g = array.conductance().array();
  const double q = 0.1;
  const double keep = (1 - q) * (1 - q);
  const double mean = 25e-6 - 10e-6 * std::pow(1 - q, k);
  const double variance = 1e-10 * (std::pow(keep + q * q * 0.25, k) - std::pow(keep, k));
  // 40000 samples; 5 standard errors: false alarm 6e-7 each. (The bound is 5.6 standard deviations away.)
  const double samples = static_cast<double>(g.size());
  const double measured = (g - g.mean()).square().sum() / (samples - 1);
  CHECK(std::abs(g.mean() - mean) <= 5 * std::sqrt(variance / samples));
  CHECK(std::abs(measured / variance - 1) <= 5 * std::sqrt(2 / samples));

  // The formula itself, against pulses one by one. The product of ten noisy factors is not Gaussian: its kurtosis (3.1)
  // widens the standard error by less than 5 %, within the 6 used here.
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  double sum = 0;
  double square = 0;
  for (int i = 0; i < 40000; ++i) {
    double at_g = 15e-6;
    for (int p = 0; p < k; ++p) at_g += 1e-6 * (1 + 0.5 * normal(engine)) * (25e-6 - at_g) / 10e-6;
    sum += at_g - mean;
    square += (at_g - mean) * (at_g - mean);
  }
  CHECK(std::abs(sum / 40000) <= 5 * std::sqrt(variance / 40000));
  CHECK(std::abs(square / 40000 / variance - 1) <= 6 * std::sqrt(2.0 / 40000));
}

TEST_CASE("constant step with noise: variance k sigma^2 of a pulse", "[devices][statistics]") {
  DeviceSpec spec = make("constant_step", 1000);
  spec.update_noise = 2.0;
  constexpr Index n = 200;
  auto array = at(spec, 15e-6, n);
  array.update(Matrix<double>::Constant(n, n, -1), 36 * window_S / 1000, 7);
  const auto g = array.conductance().array();
  const double sigma = 2.0 * std::sqrt(36.0) * window_S / 1000;
  CHECK(std::abs(g.mean() - (15e-6 - 36 * window_S / 1000)) <= 5 * sigma / n);  // false alarm 6e-7
  const double measured = (g - g.mean()).square().sum() / static_cast<double>(g.size() - 1);
  CHECK(std::abs(measured / (sigma * sigma) - 1) <= 5 * std::sqrt(2.0 / (n * n)));
}

TEST_CASE("stochastic rounding to whole pulses is unbiased and counted", "[devices][statistics]") {
  DeviceSpec spec = make("constant_step", 1000);
  spec.update = PulseMode::pulsed;
  constexpr Index n = 200;
  auto array = at(spec, 15e-6, n);
  const double s = window_S / 1000;
  const PulseCount count = array.update(Matrix<double>::Ones(n, n), 0.3 * s, 1);
  const auto pulses = ((array.conductance().array() - 15e-6) / s).round();
  CHECK(((pulses == 0) || (pulses == 1)).all());
  CHECK(static_cast<double>(count.up) == pulses.sum());
  CHECK(count.down == 0);
  // Binomial(40000, 0.3): 5 standard deviations, false alarm 6e-7.
  CHECK(std::abs(pulses.sum() - 12000) <= 5 * std::sqrt(40000 * 0.3 * 0.7));
  // Continuous mode counts the mean number, rounded once per update.
  spec.update = PulseMode::continuous;
  auto smooth = at(spec, 15e-6, n);
  const PulseCount mean = smooth.update(Matrix<double>::Constant(n, n, -1), 0.3 * s, 1);
  CHECK(mean.down == 12000);
  CHECK(mean.up == 0);
}
