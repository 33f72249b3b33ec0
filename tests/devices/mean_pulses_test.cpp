// SPDX-License-Identifier: Apache-2.0
// device.pulses of a fit counts mean pulses across the window, whichever law describes the cell.
#include <fmt/format.h>

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_law.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

DeviceSpec of_model(const std::string& model, const std::map<std::string, double>& shape) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 2e-6;
  spec.g_max_S = 22e-6;
  spec.pulses = 100;
  spec.asymmetry = 0.2;
  spec.shape = shape;
  if (model == "piecewise") spec.tables = {{"up", {2, 1, 0.3, 0.1}}, {"down", {0.2, 0.5, 1.5}}};
  return spec;
}

/// Mean move of one pulse of an array of devices, from starts equally far apart across the window.
double mean_move_S(const DeviceSpec& spec, double sign) {
  constexpr Index n = 999;
  DeviceArray<double> array(spec, 1, n, {1, 0, 0}, 1);
  Matrix<double> start(1, n);
  for (Index i = 0; i < n; ++i) start(0, i) = spec.g_min_S + spec.window_S() * (static_cast<double>(i) + 0.5) / n;
  array.cells().g = start;
  array.pulse(Matrix<double>::Constant(1, n, sign), 1);
  return (array.cells().g - start).cwiseAbs().mean();
}

std::vector<double> staircase(const DeviceSpec& spec) {
  DeviceArray<double> array(spec, 1, 1, {1, 0, 0}, 1);
  array.cells().g.setConstant(spec.g_min_S + 0.1 * spec.window_S());
  std::vector<double> all;
  for (int k = 0; k < 60; ++k) {
    array.pulse(Matrix<double>::Constant(1, 1, k < 30 ? 1 : -1), static_cast<std::uint64_t>(k));
    all.push_back(array.cells().g(0, 0));
  }
  return all;
}

}  // namespace

TEST_CASE("mean pulses are those of simulated staircases, and the law stays", "[mean_pulses]") {
  const std::vector<DeviceSpec> specs = {
      of_model("soft_bounds", {}),
      of_model("constant_step", {}),
      of_model("linear_step", {{"gamma_up", 0.3}, {"gamma_down", 0.8}}),
      of_model("power_step", {{"gamma_up", 2}, {"gamma_down", 0.5}}),
      of_model("label_curve", {{"label_up", 2.4}, {"label_down", -1}}),
      of_model("piecewise", {}),
      of_model("exponential_step",
               {{"A_up", 0.5}, {"A_down", -3}, {"gamma_up", 1}, {"gamma_down", -2}, {"a", 0.5}, {"b", 0}})};
  for (const DeviceSpec& spec : specs) {
    CAPTURE(spec.model);
    DeviceSpec mean = spec;
    set_mean_pulses(mean);
    const double up = mean_move_S(spec, 1), down = mean_move_S(spec, -1);
    // Pulses that a bound stops are shorter in the array: 1 % of the window there, half of a pulse of a mean one at most.
    CHECK(mean.window_S() / mean.pulses == Approx(std::max(up, down)).epsilon(0.015));
    CHECK(mean.reference_pulse_S() == Approx(spec.reference_pulse_S()).epsilon(1e-12));
    const std::vector<double> before = staircase(spec), after = staircase(mean);
    for (std::size_t k = 0; k < before.size(); ++k) CHECK(after[k] == Approx(before[k]).epsilon(1e-9));
    const bool at_reference =
        spec.model == "soft_bounds" || spec.model == "constant_step" || spec.model == "linear_step";
    CHECK((mean.reference_pulse == 1) == at_reference);
    CHECK((device_toml(mean).find("reference_pulse") == std::string::npos) == at_reference);
  }
  // The mean of (u/½)^γ over u in [0, 1] is 2^γ/(γ + 1): 4/3 of the pulse at the reference, which is that upwards.
  DeviceSpec power = of_model("power_step", {{"gamma_up", 2}, {"gamma_down", 0.5}});
  power.pulses = 1e5;  // a pulse does not bend
  set_mean_pulses(power);
  CHECK(power.pulses == Approx(1e5 / (4.0 / 3)).epsilon(1e-3));
}

TEST_CASE("fits of one cell by several laws have one number of pulses", "[mean_pulses]") {
  // 1 - 0.6 exp(z) is near to a straight line from 0.64 to 0.01: laws of all kinds describe it.
  DeviceSpec truth = of_model(
      "exponential_step", {{"A_up", 0.6}, {"A_down", 0.6}, {"gamma_up", 1}, {"gamma_down", 1}, {"a", 0.5}, {"b", 0}});
  truth.pulses = 40;
  LabRecord record{"", "", {}};
  record.pulses.conductance_S = {truth.g_min_S + 0.02 * truth.window_S()};
  record.pulses.direction = {Direction::up};
  DeviceArray<double> array(truth, 1, 1, {1, 0, 0}, 1);
  array.cells().g.setConstant(record.pulses.conductance_S[0]);
  for (int k = 0; k < 800; ++k) {
    const bool up = k < 400;
    array.pulse(Matrix<double>::Constant(1, 1, up ? 1 : -1), static_cast<std::uint64_t>(k));
    record.pulses.conductance_S.push_back(array.cells().g(0, 0));
    record.pulses.direction.push_back(up ? Direction::up : Direction::down);
  }
  const double expected = truth.window_S() / mean_move_S(truth, 1);
  for (const char* model : {"power_step", "exponential_step", "piecewise", "linear_step"}) {
    CAPTURE(model);
    const PopulationFit fit = fit_population({record}, model);
    const DeviceSpec& spec = fit.common.spec;
    // The curve ends with pulses of a hundredth of the largest, so that laws differ in their windows by what they make of its end. With
    // pulses counted at the reference exponential_step had 40 and the others some 120.
    CHECK(spec.pulses == Approx(expected).epsilon(0.3));
    CHECK(fit.step_S.mean == Approx(spec.window_S() / spec.pulses).epsilon(1e-12));
    CHECK_THAT(fit_toml(fit.common, "r.csv"), Contains(fmt::format("pulses = {:.4}", spec.pulses).substr(0, 12)));
  }
}
