// SPDX-License-Identifier: Apache-2.0
// Update noise of one size everywhere, and slopes relative to mean bounds, against single pulses by their equations.
#include <cmath>

#include "devices/device_array.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

constexpr Index n = 200;

DeviceSpec make(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 10e-6;
  spec.g_max_S = 30e-6;
  spec.pulses = 200;
  spec.update_noise_floor = 2;
  return spec;
}

double std_of(const Matrix<double>& g) { return std::sqrt((g.array() - g.mean()).square().mean()); }

}  // namespace

TEST_CASE("update noise of one size: single pulses and many at once, with the pull of soft bounds",
          "[devices][statistics]") {
  for (const char* model : {"constant_step", "soft_bounds", "linear_step", "exponential_step", "power_step"}) {
    CAPTURE(model);
    const DeviceSpec spec = make(model);
    const double step = spec.window_S() / spec.pulses;
    // Standard errors 1/√(2 n²) of a spread: 5 of them, false alarm 6e-7. Both bounds are 8 spreads of 60 pulses away, but
    // for the 60 pulses that soft bounds take from 14 to 24 uS.
    const double error = 5 / std::sqrt(2.0 * n * n);
    for (const double g : {14e-6, 20e-6}) {
      DeviceArray<double> array(spec, n, n, {1, 2, 0});
      array.cells().g.setConstant(g);
      array.pulse(Matrix<double>::Ones(n, n), 0);
      CHECK(std_of(array.conductance()) == Approx(2 * step).epsilon(error));
    }
    if (std::string(model) != "soft_bounds" && std::string(model) != "constant_step") continue;
    DeviceArray<double> many(spec, n, n, {1, 2, 0});
    many.cells().g.setConstant(14e-6);
    DeviceArray<double> single(spec, n, n, {1, 3, 0});
    single.cells().g.setConstant(14e-6);
    many.pulse(Matrix<double>::Constant(n, n, 60), 0);
    for (std::uint64_t k = 0; k < 60; ++k) single.pulse(Matrix<double>::Ones(n, n), k);
    const double q = std::string(model) == "soft_bounds" ? step / 10e-6 : 0;
    double variance = 0;
    for (int k = 0; k < 60; ++k) variance += std::pow(1 - q, 2 * k);
    const double expected = 2 * step * std::sqrt(variance);
    CHECK(std_of(many.conductance()) == Approx(expected).epsilon(error));
    CHECK(std_of(single.conductance()) == Approx(expected).epsilon(error));
    CHECK(std::abs(many.conductance().mean() - single.conductance().mean()) < 5 * std::sqrt(2.0) * expected / n);
  }
}

TEST_CASE("update noise: that of the step and that of one size add as squares", "[devices][statistics]") {
  DeviceSpec spec = make("constant_step");
  spec.update_noise = 1.5;
  DeviceArray<double> array(spec, n, n, {1, 2, 0});
  array.cells().g.setConstant(20e-6);
  array.pulse(Matrix<double>::Constant(n, n, 9), 0);
  CHECK(std_of(array.conductance()) == Approx(2.5 * 3 * 1e-7).epsilon(5 / std::sqrt(2.0 * n * n)));
}

TEST_CASE("linear step: slopes relative to the mean bounds do not depend on the bounds of a device", "[devices]") {
  DeviceSpec spec = make("linear_step");
  spec.update_noise_floor = 0;
  spec.g_min_S = 20e-6;
  spec.g_max_S = 40e-6;
  spec.upper_bound_spread = spec.lower_bound_spread = 0.05;
  for (const double spread : {0.0, 0.02}) {
    spec.shape = {{"gamma_up", 0.3}, {"gamma_down", 0.5}, {"gamma_spread", spread}, {"mean_bounds", 1}};
    DeviceArray<double> array(spec, n, n, {1, 2, 0});
    const double step = spec.window_S() / spec.pulses;
    for (const int direction : {1, -1}) {
      array.cells().g.setConstant(30e-6 + direction * 5e-6);
      array.pulse(Matrix<double>::Constant(n, n, direction), 0);
      const auto moved = (direction * (array.conductance().array() - 30e-6) - 5e-6) / step;
      const double gamma = direction > 0 ? 0.3 : 0.5;
      // Half way to the mean bound: 1 − γ/2, whatever the bound; 100 roundings of 40 uS in a step of 0.1 uS.
      if (spread == 0) CHECK((moved - (1 - gamma / 2)).abs().maxCoeff() < 100 * 2.2e-16 * 400);
      if (spread == 0) continue;
      // γ's own spread only: 0.02/2, 5 standard errors.
      const double sd = std::sqrt((moved - moved.mean()).square().mean());
      CHECK(sd == Approx(0.01).epsilon(5 / std::sqrt(2.0 * n * n)));
    }
  }
}
