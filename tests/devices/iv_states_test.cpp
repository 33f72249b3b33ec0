// SPDX-License-Identifier: Apache-2.0
// States that noise hides, switches that return by themselves, and devices of few pulses in fits of sweeps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "devices/fit/fit_iv.hpp"
#include "devices/fit/iv_motion.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Three sweeps 0, 1.5 V, 0, −1.5 V, 0 by 20 mV of what `step` makes of the voltage: the conductance. Noise of the current is white.
std::string sweeps(const std::function<double(double volts)>& step, double noise_A, bool magnitudes = false,
                   double digit_A = 0) {
  std::string text = "cycle,voltage_V,current_A\n";
  std::vector<double> draws(2000);
  fill_normal<double>({9, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  std::size_t drawn = 0;
  for (int cycle = 1; cycle <= 3; ++cycle) {
    for (int n = 0; n <= 300; ++n) {
      const double v = 0.02 * (n <= 75 ? n : n <= 225 ? 150 - n : n - 300);
      double i = step(v) * v + noise_A * draws[drawn++];
      if (digit_A > 0) i = digit_A * std::round(i / digit_A);
      text += fmt::format("{},{:.5f},{:.8e}\n", cycle, v, magnitudes ? std::abs(i) : i);
    }
  }
  return text;
}

/// A bipolar device of these states, set at 0.8 V and reset at −0.9 V.
std::function<double(double)> bipolar(double on_S, double off_S) {
  return [=, on = false](double v) mutable {
    if (v >= 0.8 - 1e-9) on = true;
    if (v <= -0.9 + 1e-9) on = false;
    return on ? on_S : off_S;
  };
}

/// A threshold switch: on from 1 V upwards, off below 0.4 V, at either sign.
std::function<double(double)> threshold_switch(double on_S, double off_S) {
  return [=, on = false](double v) mutable {
    if (std::abs(v) >= 1 - 1e-9) on = true;
    if (std::abs(v) < 0.4 - 1e-9) on = false;
    return on ? on_S : off_S;
  };
}

IvFit fit(const std::string& text, double rate = 0) {
  TableLook look;
  return fit_iv(parse_iv(text, "iv.csv", rate, look), "auto");
}

}  // namespace

TEST_CASE("noise of the current is no off state", "[iv]") {
  // An off state of 1 pS at 10 pA of noise: below half of the threshold, 0.4 V, 20 rows a way know a slope to
  // 10 pA/(0.12 V √20) = 19 pS. So the state is below some 40 pS, and on/off above 10^5.
  for (const bool magnitudes : {false, true}) {
    CAPTURE(magnitudes);
    const IvFit found = fit(sweeps(bipolar(10e-6, 1e-12), 10e-12, magnitudes));
    CHECK(!found.reads.off_S.known());
    CHECK(!found.reads.ratio.known());
    CHECK(found.reads.off_below_S > 1e-12);
    CHECK(found.reads.off_below_S < 300e-12);
    CHECK(found.reads.set_V.value == Approx(0.79).margin(0.03));
    CHECK(found.reads.reset_V.value == Approx(-0.89).margin(0.03));
    CHECK(found.reads.on_S.value == Approx(10e-6).epsilon(1e-3));
    CHECK(found.laws.empty());
    CHECK_THAT(found.why_no_law, Contains("noise of the current hides the off state"));
    CHECK_THAT(iv_text(found), Contains("g_off      below") && Contains("on/off     above"));
    CHECK_THAT(iv_toml(found, "iv.csv"), !Contains("g_min"));
  }
  // Currents below the last digit are all 0.
  const IvFit digits = fit(sweeps(bipolar(10e-6, 1e-12), 0, false, 1e-9));
  CHECK(!digits.reads.off_S.known());
  CHECK(digits.reads.off_below_S == Approx(200e-9 / 0.39).epsilon(0.05));  // the smallest current that is not 0
  // Of a state that is seen, rows that noise turned count too: their mean is the state.
  const IvFit seen = fit(sweeps(bipolar(10e-6, 200e-12), 10e-12));
  CHECK(seen.reads.off_below_S == 0);
  CHECK(seen.reads.off_S.value == Approx(200e-12).epsilon(0.15));  // six ways of 19 pS each: 8 pS
}

TEST_CASE("a switch that returns by itself is named, and gets no law of a memristor", "[iv]") {
  const IvFit found = fit(sweeps(threshold_switch(1e-5, 1e-8), 0), 100);
  CHECK(found.reads.is_volatile());
  CHECK(found.reads.returned == 6);
  CHECK(found.reads.hold_V.at(0).value == Approx(0.39).margin(0.011));
  CHECK(found.laws.empty());
  CHECK_THAT(found.why_no_law, Contains("returns by itself in 6 of 6 lobes") && Contains("threshold switch"));
  CHECK_THAT(iv_text(found), Contains("returned   by itself in 6 of 6 lobes"));
  // One that keeps its state through a lobe and has lost it at the next of that sign.
  double last = 0;
  bool on = false;
  const IvFit lost = fit(sweeps(
                             [&](double v) {
                               if (last <= 0 && v > 0) on = false;
                               if (v >= 0.8) on = true;
                               last = v;
                               return on ? 1e-5 : 1e-7;
                             },
                             0),
                         100);
  CHECK(lost.reads.set_V.n == 3);
  // Of three cycles the second and the third show that it was lost.
  CHECK(lost.reads.returned == 2);
  CHECK_THAT(lost.why_no_law, Contains("returns by itself"));
  // Bipolar devices, and a curved one that never switches, return nothing.
  CHECK(fit(sweeps(bipolar(1e-5, 1e-7), 1e-10)).reads.returned == 0);
  CHECK(fit(sweeps([](double v) { return 1e-7 * std::sinh(6 * std::abs(v) + 1e-9) / (6 * std::abs(v) + 1e-9); }, 0))
            .reads.returned == 0);
}

TEST_CASE("a sweep of many loops without a reset shows a state that is lost", "[iv]") {
  std::string text = "V,I,t\n";
  int row = 0;
  for (int loop = 0; loop < 4; ++loop) {
    bool on = false;  // gone since the last loop
    for (int n = 0; n <= 60; ++n, ++row) {
      const double v = 0.05 * (n <= 30 ? n : 60 - n);
      on = on || v > 0.81;
      text += fmt::format("{},{},{}\n", v, v * (on ? 1e-4 : 1e-6), row);
    }
  }
  const IvFit found = fit(text);
  CHECK(found.reads.switched == 4);
  CHECK(found.reads.returned == 3);
  CHECK_THAT(found.why_no_law, Contains("returns by itself"));
}

TEST_CASE("the device of a law has 100 mean pulses, or says how many and what would give more", "[iv]") {
  // A resistive state of on/off 100: 1 % of the state at its middle is 26 % of the conductance's window near the on end.
  IvMotion motion;
  motion.g_min_S = 1e-6;
  motion.g_max_S = 100e-6;
  Vteam& law = motion.resistive;
  law.threshold_up_V = 0.6, law.threshold_down_V = -0.7, law.k_up_Hz = 40, law.k_down_Hz = 60;
  law.alpha_up = law.alpha_down = 2, law.window = 1;
  IvReads reads;
  reads.set_V.value = 1, reads.reset_V.value = -1.05;
  const DeviceSpec spec = device_of_law(motion, reads);
  CHECK(spec.pulses == Approx(100).epsilon(0.02));
  // A pulse down is a hundredth of the window by construction. One up moves the state as fast, and the conductance 1/R much slower.
  CHECK(pulse_warnings(spec).size() == 1);
  CHECK_THAT(pulse_warnings(spec).at(0), Contains("pulses down move 0.01 of the window, those up 6.1"));
  DeviceSpec coarse = spec;
  coarse.shape["pulse_width"] *= 20;
  coarse.pulses = 8;
  const std::vector<std::string> said = pulse_warnings(coarse);
  REQUIRE(!said.empty());
  CHECK_THAT(said[0], Contains("crosses the window in 8:") && Contains("learns little") && Contains("would take 100"));
  DeviceSpec even = spec;
  even.shape["k_down"] /= 300;
  CHECK(pulse_warnings(even).empty());
}

namespace {

/// A switch of threshold ±0.8 V that is off below `hold_V`; the currents are at most `limit_A`.
std::string volatile_sweeps(double on_S, double off_S, double hold_V, double limit_A = INFINITY, double noise_A = 0) {
  std::string text = "cycle,voltage_V,current_A\n";
  std::vector<double> draws(2000);
  fill_normal<double>({5, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  std::size_t drawn = 0;
  bool on = false;
  for (int cycle = 1; cycle <= 3; ++cycle) {
    for (int n = 0; n <= 300; ++n) {
      const double v = 0.02 * (n <= 75 ? n : n <= 225 ? 150 - n : n - 300);
      on = std::abs(v) >= 0.8 - 1e-9 || (on && std::abs(v) >= hold_V - 1e-9);
      const double i = (on ? on_S : off_S) * v * (1 + 0.005 * draws[drawn]) + noise_A * draws[drawn + 1];
      drawn += 2 * (drawn + 3 < draws.size() ? 1 : 0);
      text += fmt::format("{},{:.5f},{:.8e}\n", cycle, v, std::clamp(i, -limit_A, limit_A));
    }
  }
  return text;
}

}  // namespace

TEST_CASE("a threshold switch is named wherever it lets go, and its voltages stand apart for both signs", "[iv]") {
  // Half a step of 20 mV to either side of the middle.
  for (const double hold : {0.1, 0.3, 0.5}) {
    CAPTURE(hold);
    const IvFit found = fit(volatile_sweeps(1e-4, 1e-7, hold));
    CHECK(found.reads.returned == 6);
    REQUIRE(found.reads.threshold_V.size() == 2);
    CHECK(found.reads.threshold_V[0].value == Approx(0.79).margin(0.011));
    CHECK(found.reads.threshold_V[1].value == Approx(-0.79).margin(0.011));
    CHECK(found.reads.threshold_V[0].high - found.reads.threshold_V[0].low < 0.04);
    REQUIRE(found.reads.hold_V.size() == 2);
    CHECK(found.reads.hold_V[0].value == Approx(hold - 0.01).margin(0.011));
    CHECK(found.reads.on_S.value == Approx(1e-4).epsilon(0.01));
    CHECK(found.reads.off_S.value == Approx(1e-7).epsilon(0.01));
    CHECK_THAT(iv_text(found), Contains("  threshold  7") && Contains("  threshold  -7") && Contains("  hold ") &&
                                   !Contains("nothing switches") && !Contains("  set "));
  }
  // Gone before the last two rows: the next lobe of that sign begins off.
  const IvFit low = fit(volatile_sweeps(1e-4, 1e-7, 0.01));
  CHECK(low.reads.set_V.value == Approx(0.79).margin(0.011));
  CHECK(low.reads.other_set_V.value == Approx(-0.79).margin(0.011));
  CHECK(low.reads.returned == 4);
  CHECK(low.reads.is_volatile());
  // On/off of 2.5 is far above noise of 0.5 %.
  CHECK(fit(volatile_sweeps(1e-4, 4e-5, 0.5)).reads.returned == 6);
  CHECK(fit(volatile_sweeps(1e-4, 1e-4, 0.5)).reads.switched == 0);
}

TEST_CASE("a threshold switch behind a limit of the current shows both of its voltages", "[iv]") {
  for (const double limit : {1e-6, 1e-5, 5e-5}) {
    CAPTURE(limit);
    // 10 pA of noise on 1 nS are half of the first row: the logarithms of such rows are no curvature.
    const IvFit found = fit(volatile_sweeps(1e-3, 1e-9, 0.24, limit, 1e-11));
    CHECK(found.reads.returned == 6);
    REQUIRE(found.reads.threshold_V.size() == 2);
    CHECK(found.reads.threshold_V[0].value == Approx(0.79).margin(0.011));
    CHECK(found.reads.hold_V.at(0).value == Approx(0.23).margin(0.011));
    CHECK(found.reads.sinh_V() == 0);
  }
}

TEST_CASE("a reset behind a limit of the current lies behind the last row at the limit", "[iv]") {
  // Conductances of 1 mS are limited from 0.2 V on; the reset to 10 uS at −0.9 V falls below the limit.
  std::string text = "cycle,voltage_V,current_A\n";
  auto device = bipolar(1e-3, 1e-5);
  for (int cycle = 1; cycle <= 3; ++cycle) {
    for (int n = 0; n <= 300; ++n) {
      const double v = 0.02 * (n <= 75 ? n : n <= 225 ? 150 - n : n - 300);
      text += fmt::format("{},{:.5f},{:.8e}\n", cycle, v, std::clamp(device(v) * v, -1e-4, 1e-4));
    }
  }
  const IvFit found = fit(text);
  CHECK(found.reads.set_V.n == 3);
  CHECK(found.reads.set_V.value == Approx(0.79).margin(0.011));
  CHECK(found.reads.reset_V.n == 3);
  CHECK(found.reads.reset_V.value == Approx(-0.89).margin(0.011));
  CHECK(found.reads.returned == 0);
  CHECK_THAT(fit(text, 100).why_no_law, Contains("limited at the sign of the reset"));
}

TEST_CASE("noise above the current of an off state is not a turned sign", "[iv]") {
  const IvFit found = fit(sweeps(bipolar(100e-6, 1e-9), 1e-6));
  CHECK(found.reads.set_V.value == Approx(0.79).margin(0.03));
  CHECK(found.reads.off_below_S > 1e-9);
  CHECK_THAT(iv_text(fit(sweeps([](double) { return 1e-9; }, 1e-7))), Contains("conductance below"));
  CHECK_THROWS_WITH(fit(sweeps([](double) { return -1e-6; }, 1e-9) + "4,1,1e-6\n"), Contains("passive"));
}

TEST_CASE("of several devices the one that never switches is named", "[iv]") {
  std::string text = "device,voltage_V,current_A\n";
  for (const int d : {1, 2, 3}) {
    auto device = bipolar(1e-4, d == 3 ? 1e-4 : 1e-5);
    for (int n = 0; n <= 300; ++n) {
      const double v = 0.02 * (n <= 75 ? n : n <= 225 ? 150 - n : n - 300);
      text += fmt::format("{},{:.5f},{:.8e}\n", d, v, device(v) * v);
    }
  }
  CHECK_THAT(fit(text, 100).why_no_law, Contains("nothing switches in device 3"));
}
