// SPDX-License-Identifier: Apache-2.0
// The differential equations of memristors: closed forms, step halving, pinched loops, and pulses as their flow.
#include <cmath>

#include "devices/device_array.hpp"
#include "devices/memristor/memristor.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Vteam vteam(double window) {
  Vteam m;
  m.threshold_up_V = 0.5;
  m.threshold_down_V = -0.4;
  m.k_up_Hz = 1e4;
  m.k_down_Hz = 2e4;
  m.alpha_up = 3;
  m.alpha_down = 2;
  m.window = window;
  m.r_on_ohm = 4e4;
  m.r_off_ohm = 4e6;
  return m;
}

/// The published device: 0.17 A and 0.05 per volt.
Yakopcic published() {
  DeviceSpec spec;
  spec.model = "yakopcic";
  spec.g_min_S = 0;
  spec.g_max_S = 0.17 * 0.05;
  return yakopcic_of(spec);
}

}  // namespace

TEST_CASE("vteam: constant voltage against the closed forms", "[devices]") {
  const double speed = 1e4 * std::pow(0.8 / 0.5 - 1, 3);
  // Without a window at constant speed to the bound, where it stays.
  const auto straight = drive(
      vteam(0), 0.1, [](double) { return 0.8; }, 3e-4, 30);
  for (std::size_t i = 0; i < straight.time_s.size(); ++i) {
    // Local error 1e-9 per step of less than 1; the clamp at 1 is exact.
    CHECK(std::abs(straight.state[i] - std::min(0.1 + speed * straight.time_s[i], 1.0)) < 1e-7);
    CHECK(straight.current_A[i] == Approx(0.8 / (4e6 + straight.state[i] * (4e4 - 4e6))).epsilon(1e-12));
  }
  // With the window 1 − x: exponential approach; falling likewise.
  const auto rising = drive(
      vteam(1), 0.1, [](double) { return 0.8; }, 3e-4, 30);
  const auto falling = drive(
      vteam(1), 0.9, [](double) { return -0.8; }, 1e-4, 30);
  for (std::size_t i = 0; i <= 30; ++i) {
    CHECK(std::abs(rising.state[i] - (1 - 0.9 * std::exp(-speed * rising.time_s[i]))) < 1e-7);
    CHECK(std::abs(falling.state[i] - 0.9 * std::exp(-2e4 * falling.time_s[i])) < 1e-7);  // (0.8/0.4 − 1)² = 1
  }
  // Below the thresholds nothing moves.
  for (double volts : {0.49, -0.39, 0.0}) CHECK(vteam(1).rate(0.5, volts) == 0);
}

TEST_CASE("yakopcic: a sine gives a loop pinched at zero, the same however fine it is followed", "[devices]") {
  const Yakopcic m = published();
  const auto sine = [](double t) { return 0.5 * std::sin(2 * M_PI * 100 * t); };  // 0.5 V at 100 Hz, as published
  const auto loop = drive(m, 0.11, sine, 0.02, 400);
  const auto finer = drive(m, 0.11, sine, 0.02, 400, 1e-11);
  for (std::size_t i = 0; i < loop.state.size(); ++i) {
    // The thresholds are kinks in time: errors of the order of the tolerance times the number of steps, 1e-9 · 1e3.
    CHECK(std::abs(loop.state[i] - finer.state[i]) < 1e-6);
    if (std::abs(loop.volts[i]) < 1e-9) CHECK(std::abs(loop.current_A[i]) < 1e-10);
  }
  // Hysteresis: at the same voltage, 0.3 V rising and falling (t = T/10 about), two currents.
  const double t = std::asin(0.6) / (2 * M_PI * 100);
  const auto up = drive(m, 0.11, sine, t, 1);
  const auto down = drive(m, 0.11, sine, 0.005 - t, 1);
  CHECK(down.current_A[1] > 2 * up.current_A[1]);
  // Small signals: the conductance a b x.
  CHECK(m.current(0.5, 1e-3) == Approx(0.5 * 0.17 * 0.05 * 1e-3).epsilon(1e-8));
}

TEST_CASE("memristor pulses are the flow of the differential equation", "[devices]") {
  for (const char* name : {"vteam", "yakopcic"}) {
    DeviceSpec spec;
    spec.model = name;
    spec.pulses = 200;
    const double width = spec.shape_value("pulse_width");
    const Vteam v = std::string(name) == "vteam" ? vteam_of(spec) : Vteam{};
    const Yakopcic y = std::string(name) == "yakopcic" ? yakopcic_of(spec) : Yakopcic{};
    const Memristor& m = std::string(name) == "vteam" ? static_cast<const Memristor&>(v) : y;
    const auto state = [&](double g) {
      if (std::string(name) == "yakopcic") return (g - spec.g_min_S) / spec.window_S();
      return (1 / g - 1 / spec.g_min_S) / (1 / spec.g_max_S - 1 / spec.g_min_S);
    };
    for (const bool up : {true, false}) {
      const double g0 = 10e-6;
      for (int n : {1, 10, 60}) {
        DeviceArray<double> array(spec, 1, 1, {}, 1);
        array.cells().g(0, 0) = g0;
        array.update(Matrix<double>::Ones(1, 1), (up ? 1 : -1) * n * spec.window_S() / 200, 0);
        const double volts = spec.shape_value(up ? "pulse_up" : "pulse_down");
        const auto trace = drive(
            m, state(g0), [=](double) { return volts; }, n * width, 1);
        // Table of 4096 intervals: error (k/4096)²/8 with a rate that changes k < 20-fold: 3e-6.
        CHECK(std::abs(state(array.conductance()(0, 0)) - trace.state[1]) < 5e-6);
      }
    }
  }
}

TEST_CASE("vteam: the bound is reached and a pulse near it moves by the closed form, whatever the on/off ratio",
          "[devices]") {
  for (const double ratio : {25.0, 100.0, 1000.0}) {
    CAPTURE(ratio);
    DeviceSpec spec;
    spec.model = "vteam";
    spec.g_min_S = spec.g_max_S / ratio;
    // p = 1: the distance d = 1 − x of the state from its bound shrinks by the same factor with every pulse.
    const double shrink = std::exp(
        -spec.shape_value("k_up") * spec.shape_value("pulse_width") *
        std::pow(spec.shape_value("pulse_up") / spec.shape_value("threshold_up") - 1, spec.shape_value("alpha_up")));
    const auto g_at = [&](double d) { return spec.g_max_S / (1 + d * (ratio - 1)); };
    const auto d_at = [&](double g) { return (spec.g_max_S / g - 1) / (ratio - 1); };
    // The last 1e-9 of the way is crossed at its first speed: g is off by at most (ratio − 1) 1e-9 g_max; before it by
    // rounding, some 1e-14 of d, which g amplifies by at most the ratio.
    const double tolerance = (ratio * 1e-9 + ratio * 1e-13) * spec.g_max_S;
    DeviceArray<double> array(spec, 1, 1, {1, 2, 0});
    const Matrix<double> one = Matrix<double>::Ones(1, 1);
    for (const double part : {0.9, 0.99, 0.999}) {
      const double g = spec.g_min_S + part * spec.window_S();
      array.cells().g(0, 0) = g;
      array.pulse(one, 0);
      const double moved = array.conductance()(0, 0) - g;
      const double expected = g_at(d_at(g) * shrink) - g;
      // Above place 7/8 (d < 1/8) the table is exact for p = 1; d is known to some ten roundings of 1.
      REQUIRE(d_at(g) < 0.125);
      CHECK(moved == Approx(expected).epsilon(1e-9 + 10 * 2.2e-16 / d_at(g)));
      if (ratio == 1000 && part == 0.9) CHECK(moved == Approx(22.4e-9).epsilon(2e-3));  // the audit's number
    }
    // ln(1e9) e-folds to the last cell and one more to cross it.
    const double pulses = std::ceil(-(std::log(1e9) + 2) / std::log(shrink));
    array.cells().g(0, 0) = spec.g_min_S;
    array.pulse(pulses * one, 1);
    CHECK(std::abs(array.conductance()(0, 0) - spec.g_max_S) <= tolerance);
    array.cells().g(0, 0) = spec.g_max_S;
    array.pulse(-pulses * one, 2);
    CHECK(std::abs(array.conductance()(0, 0) - spec.g_min_S) <= tolerance);
  }
}

TEST_CASE("memristor: pulses below the threshold and a window from zero are refused", "[devices]") {
  DeviceSpec spec;
  spec.model = "vteam";
  spec.shape = {{"pulse_up", 0.4}};
  CHECK_THROWS_WITH(device_model("vteam").make(spec), Contains("0.4 V does not move the state up"));
  spec.shape = {};
  spec.g_min_S = 0;
  CHECK_THROWS_WITH(spec.validate(), Contains("device.g_min = 0") && Contains("vteam"));
}
