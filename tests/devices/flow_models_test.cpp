// SPDX-License-Identifier: Apache-2.0
// Power step, soft bounds with reference, label curves and tables, against their equations.
#include <cmath>
#include <functional>

#include "devices/device_array.hpp"
#include "devices/models/label_curve.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

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

double after(const DeviceSpec& spec, double g, double k) {
  DeviceArray<double> array(spec, 1, 1, {1, 2, 0});
  array.cells().g.setConstant(g);
  array.update(Matrix<double>::Ones(1, 1), k * spec.window_S() / spec.pulses, 0);
  return array.conductance()(0, 0);
}

/// dg/dn = rate(g) over n pulses by classical Runge–Kutta with 4000 steps.
double integrate(double g, double n, const std::function<double(double)>& rate) {
  const double h = n / 4000;
  for (int i = 0; i < 4000; ++i) {
    const double k1 = rate(g);
    const double k2 = rate(g + 0.5 * h * k1);
    const double k3 = rate(g + 0.5 * h * k2);
    const double k4 = rate(g + h * k3);
    g += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return g;
}

}  // namespace

TEST_CASE("power step: the closed form solves its differential equation", "[devices]") {
  for (const auto& [gamma_up, gamma_down] : {std::pair{0.5, 2.0}, std::pair{1.0, 0.0}, std::pair{3.0, 1.0 + 1e-9}}) {
    DeviceSpec spec = make("power_step", 200);
    spec.reference = 0.4;
    spec.shape = {{"gamma_up", gamma_up}, {"gamma_down", gamma_down}};
    const double s = window_S / 200;
    const double ref = 5e-6 + 0.4 * window_S;
    const double up_power = gamma_up;
    const double down_power = gamma_down;
    for (double n : {0.01, 1.0, 60.0}) {
      const double up =
          integrate(8e-6, n, [&](double g) { return s * std::pow((25e-6 - g) / (25e-6 - ref), up_power); });
      const double down =
          integrate(22e-6, n, [&](double g) { return -s * std::pow((g - 5e-6) / (ref - 5e-6), down_power); });
      // Runge–Kutta error of order (n f'/4000)^4, below 1e-10 of the window.
      CHECK(std::abs(after(spec, 8e-6, n) - up) <= 1e-10 * window_S);
      CHECK(std::abs(after(spec, 22e-6, -n) - down) <= 1e-10 * window_S);
    }
  }
  // A root reaches the bound in finite time: from u = U with gamma = 1/2 after 2 U/s pulses.
  DeviceSpec spec = make("power_step", 200);
  CHECK(after(spec, 15e-6, 199) < 25e-6);
  CHECK(after(spec, 15e-6, 201) == Approx(25e-6).epsilon(1e-14));
}

TEST_CASE("label curves: bound to bound in N pulses, distance from the line as labelled", "[devices]") {
  for (double label : {0.04, 1.0, 2.4, 4.88, 6.76, 9.0}) {
    const double k = curvature_of_label(label);
    CHECK(curvature_of_label(-label) == -k);
    // Largest distance on a grid of 1e-5: the curve is flat there, the grid misses at most k^2/8 1e-10.
    double largest = 0;
    for (int i = 0; i <= 100000; ++i) {
      const double p = i * 1e-5;
      largest = std::max(largest, std::expm1(-k * p) / std::expm1(-k) - p);
    }
    CHECK(largest == Approx(label / 10).epsilon(1e-4));
  }
  DeviceSpec spec = make("label_curve", 97);
  spec.asymmetry = 0.03;  // 97 pulses up, 100 down
  spec.shape = {{"label_up", 2.4}, {"label_down", -4.88}};
  const double k_up = curvature_of_label(2.4);
  const double k_down = curvature_of_label(4.88);
  for (int p : {1, 20, 60, 97}) {
    const double up = 5e-6 + window_S * std::expm1(-k_up * p / 97.0) / std::expm1(-k_up);
    const double down = 25e-6 - window_S * std::expm1(-k_down * p / 100.0) / std::expm1(-k_down);
    CHECK(std::abs(after(spec, 5e-6, p) - up) <= 1e-13 * window_S);
    CHECK(std::abs(after(spec, 25e-6, -p) - down) <= 1e-13 * window_S);
  }
  // A positive down label starts slowly: after half the pulses less than half the way.
  spec.shape = {{"label_up", 1.75}, {"label_down", 1.46}};
  CHECK(after(spec, 25e-6, -50) > 15e-6);
  CHECK(after(spec, 5e-6, 48.5) > 15e-6);
  spec.shape = {{"label_up", 0.0}, {"label_down", 0.0}};
  CHECK(after(spec, 5e-6, 48.5) == Approx(15e-6).epsilon(1e-13));
}

TEST_CASE("piecewise: the tables' differential equation, exact across intervals, stops at zero", "[devices]") {
  DeviceSpec spec = make("piecewise", 100);
  spec.tables = {{"up", {2.0, 1.0, 0.4, 0.1}}, {"down", {0.2, 0.8, 0.8, 1.6}}};
  const double s = window_S / 100;
  const auto table = [](const std::vector<double>& t, double g) {
    const double at = (g - 5e-6) / window_S * 3;
    const auto k = std::min(static_cast<std::size_t>(at), std::size_t{2});
    return t[k] + (t[k + 1] - t[k]) * (at - static_cast<double>(k));
  };
  for (double n : {0.01, 3.0, 40.0, 90.0}) {
    const double up = integrate(5e-6, n, [&](double g) { return s * table(spec.tables["up"], g); });
    const double down = integrate(25e-6, n, [&](double g) { return -s * table(spec.tables["down"], g); });
    // Runge–Kutta across a kink is of second order: (n/4000)^2 of a change of slope, below 1e-6 of the window.
    CHECK(std::abs(after(spec, 5e-6, n) - up) <= 1e-6 * window_S);
    CHECK(std::abs(after(spec, 25e-6, -n) - down) <= 1e-6 * window_S);
  }
  spec.tables["up"] = {1.0, 0.0, 1.0};
  CHECK(after(spec, 10e-6, 1e5) <= 15e-6 * (1 + 1e-15));
  CHECK(after(spec, 10e-6, 1e5) == Approx(15e-6).epsilon(1e-9));
  CHECK(after(spec, 15e-6, 1e5) == 15e-6);
  spec.tables = {};  // constant steps
  CHECK(after(spec, 10e-6, 25) == Approx(15e-6).epsilon(1e-13));

  spec.tables = {{"up", {1.0, -1.0}}};
  CHECK_THROWS_WITH(spec.validate(), Contains("device.piecewise.up[1] = -1") && Contains(">= 0"));
  spec.tables = {{"up", {1.0}}};
  CHECK_THROWS_WITH(spec.validate(), Contains("at least 2"));
  spec.tables = {{"upp", {1.0, 1.0}}};
  CHECK_THROWS_WITH(spec.validate(), Contains("did you mean up?"));
}

TEST_CASE("soft bounds with reference: up and down pulses balance at the reference", "[devices][statistics]") {
  DeviceSpec spec = make("soft_bounds_reference", 200);
  spec.g_min_S = 40e-6;  // far from zero: no bound is cut off
  spec.g_max_S = 60e-6;
  spec.step_spread = 0.2;
  spec.asymmetry_spread = 0.05;
  spec.upper_bound_spread = 0.1;
  spec.lower_bound_spread = 0.1;
  spec.asymmetry = 0.3;
  constexpr Index n = 60;
  for (double spread : {0.0, 0.03}) {
    spec.shape = {{"symmetry_spread", spread}};
    DeviceArray<double> array(spec, n, n, {1, 2, 0});
    const auto& cells = array.cells();
    // Symmetry point to first order: q_up (g_upper - g) = q_down (g - g_lower) with q = step/distance at the reference.
    const auto q_up = (cells.step_up.array() / (cells.upper.array() - 50e-6)).eval();
    const auto q_down = (cells.step_down.array() / (50e-6 - cells.lower.array())).eval();
    const auto symmetry =
        ((q_up * cells.upper.array() + q_down * cells.lower.array()) / (q_up + q_down) - 50e-6).eval();
    if (spread == 0) {
      CHECK(symmetry.abs().maxCoeff() < 1e-15);  // 50 roundings of 60 uS
    } else {
      // 3600 devices, 5 standard errors: false alarm 6e-7.
      CHECK(std::sqrt(symmetry.square().mean()) == Approx(0.03 * 20e-6).epsilon(5 / std::sqrt(2.0 * n * n)));
    }
    // And by pulses: a thousand pairs end within one pulse of it.
    array.cells().g.setConstant(50e-6);
    for (std::uint64_t k = 0; k < 2000; ++k) {
      array.update(Matrix<double>::Ones(n, n), (k % 2 ? -1 : 1) * 20e-6 / 200, k);
    }
    const auto moved = (array.conductance().array() - 50e-6 - symmetry).abs().eval();
    CHECK((moved <= (cells.step_up.array() + cells.step_down.array())).all());
  }
}
