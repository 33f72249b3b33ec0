// SPDX-License-Identifier: Apache-2.0
// I-V sweeps and tables of endurance: what was put in comes out.
#include <fmt/format.h>

#include <cmath>

#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/fit_iv.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

std::vector<double> normal_draws(std::uint64_t seed) {
  std::vector<double> draws(20000);
  fill_normal<double>({seed, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  return draws;
}

/// A memristor of two thresholds, followed by Euler steps: dx/dt = ±k (|V|/V_t − 1)^a (window of power 1), I = G(x) V0 sinh(V/V0).
struct Loop {
  double up_V = 0.6, down_V = 0.7, k_up = 40, k_down = 60, power = 2, r_on = 20e3, r_off = 1e6, sinh_V = 0;
  double peak = 1.5, ramp = 1;  // V, V/s
  int rows = 240, cycles = 3;
  double noise = 0.01, limit_A = INFINITY;

  std::string csv(bool times = true) const {
    std::string text = times ? "cycle,voltage_V,current_A,time_s\n" : "cycle,voltage_V,current_A\n";
    const std::vector<double> draws = normal_draws(3);
    double x = 0.01, t = 0;
    std::size_t drawn = 0;
    for (int cycle = 0; cycle < cycles; ++cycle) {
      for (int n = 0; n < rows; ++n, t += 4 * peak / ramp / rows) {
        const auto volts = [&](double part) {  // 0, peak, 0, −peak, 0
          const double p = 4 * part;
          return peak * (p < 1 ? p : p < 3 ? 2 - p : p - 4);
        };
        constexpr int steps = 200;
        for (int k = 0; k < steps && n > 0; ++k) {
          const double v = volts((n - 1 + (k + 0.5) / steps) / rows), dt = 4 * peak / ramp / rows / steps;
          if (v > up_V) x += dt * k_up * std::pow(v / up_V - 1, power) * (1 - x);
          if (v < -down_V) x -= dt * k_down * std::pow(-v / down_V - 1, power) * x;
        }
        const double v = volts(static_cast<double>(n) / rows), g = 1 / (r_off + x * (r_on - r_off));
        double i = g * (sinh_V > 0 ? sinh_V * std::sinh(v / sinh_V) : v) * (1 + noise * draws[drawn++]);
        if (i > limit_A) i = limit_A;  // in the set alone
        text += times ? fmt::format("{},{:.5f},{:.6e},{:.6f}\n", cycle + 1, v, i, t)
                      : fmt::format("{},{:.5f},{:.6e}\n", cycle + 1, v, i);
      }
    }
    return text;
  }
};

IvFit fit(const std::string& text, const std::string& model = "auto", double rate = 0) {
  TableLook look;
  return fit_iv(parse_iv(text, "iv.csv", rate, look), model);
}

double number(const IvLaw& law, const std::string& name) {
  for (const FittedNumber& n : law.numbers) {
    if (n.name == name) return n.value;
  }
  return NAN;
}

}  // namespace

TEST_CASE("sweeps tell thresholds, both states and the law that moves the device", "[iv]") {
  const Loop loop;
  const IvFit found = fit(loop.csv());
  const IvReads& r = found.reads;
  CHECK(r.lobes.size() == 6);
  // ln(1 − x) = −k ∫ (V/V_t − 1)² dV falls to where ln G is halfway between .05 and 1 uS/20 kOhm: x there is
  // (1 − √(R_on/R_off))/(1 − R_on/R_off) = .876, and V_t (V/V_t − 1)³/3 · 40 s/V · V/s = 2.09: V = .986 V; steps are .025 V.
  CHECK(r.set_V.value == Approx(0.6 * (1 + std::cbrt(2.09 * 3 / 40 / 0.6))).margin(0.03));
  CHECK(r.reset_V.value < -loop.down_V);
  CHECK(r.set_V.low < r.set_V.value);
  // On the way back the device is all but on: 1 % of noise over tens of rows, and what x lacks of 1.
  CHECK(r.on_S.value == Approx(50e-6).epsilon(0.03));
  CHECK(r.ratio.value == Approx(50).epsilon(0.3));  // the off state still has some x
  CHECK(r.sinh_V() == 0);
  REQUIRE(found.laws.size() == 2);
  const IvLaw& law = found.laws.front();
  CHECK(law.spec.model == "vteam");
  CHECK(law.rms < 0.013);  // noise of 1 % and the straight line between rows
  CHECK(number(law, "threshold_up") == Approx(0.6).margin(0.05));
  CHECK(number(law, "threshold_down") == Approx(-0.7).margin(0.05));
  CHECK(number(law, "g_max") == Approx(50e-6).epsilon(0.02));
  CHECK(number(law, "alpha_up") == Approx(2).margin(0.5));
  CHECK(law.spec.pulses >= 2);
  CHECK_THAT(iv_toml(found, "iv.csv"), Contains("model = 'vteam'") && Contains("pulse_width"));
}

namespace {

/// An ohmic device of 1 mS and 1 uS that is set at 0.8 V and reset at -0.9 V, in sweeps of ±1.5 V by 20 mV; the current of
/// positive voltages is at most limit_A.
std::string ohmic(int cycles, double noise, std::uint64_t seed, double limit_A = INFINITY) {
  std::string text = "cycle,voltage_V,current_A\n";
  const std::vector<double> draws = normal_draws(seed);
  std::size_t drawn = 0;
  double g = 1e-6;
  for (int cycle = 1; cycle <= cycles; ++cycle) {
    for (int n = 0; n <= 300; ++n) {
      const double v = 0.02 * (n <= 75 ? n : n <= 225 ? 150 - n : n - 300);
      if (v >= 0.8 - 1e-9) g = 1e-3;
      if (v <= -0.9 + 1e-9) g = 1e-6;
      text += fmt::format("{},{:.5f},{:.6e}\n", cycle, v, std::min(g * v * (1 + noise * draws[drawn++]), limit_A));
    }
  }
  return text;
}

IvReads looked_at(const std::string& text) {
  TableLook look;
  return look_at_sweeps(parse_iv(text, "iv.csv", 0, look));
}

}  // namespace

TEST_CASE("many noisy sweeps of an ohmic device show no curvature", "[iv]") {
  int curved = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) curved += looked_at(ohmic(10, 0.01, seed)).sinh_V() > 0 ? 1 : 0;
  CHECK(curved <= 2);  // 2.5 % each: three of ten by chance once in 500
}

TEST_CASE("a set that the instrument's limit hides lies at the first row at the limit", "[iv]") {
  for (const double limit : {100e-6, 400e-6}) {
    CAPTURE(limit);
    const IvReads found = looked_at(ohmic(2, 0, 1, limit));
    CHECK(found.set_V.value == Approx(0.79).margin(0.011));  // between 0.78 and 0.8 V
    CHECK(found.reset_V.value == Approx(-0.89).margin(0.011));
  }
}

TEST_CASE("the curvature of a read, a limited current, no times, and turned signs", "[iv]") {
  Loop curved;
  curved.sinh_V = 0.4;
  const IvFit found = fit(curved.csv(), "vteam");
  // The states of both ways below half of the threshold, 1 % of noise on some 30 rows: ln(sinh u/u) = u²/6 of 1 is seen to 3 %.
  CHECK(found.reads.sinh_V() == Approx(0.4).epsilon(0.1));
  CHECK(found.laws.at(0).spec.curve.sinh_V == found.reads.sinh_V());
  Loop limited;
  limited.limit_A = 30e-6;
  TableLook look;
  const IvData data = parse_iv(limited.csv(), "l.csv", 0, look);
  CHECK(data.limits.at(1) == Approx(30e-6));
  CHECK(std::isinf(data.limits.at(-1)));
  CHECK_THAT(look.understood.at(0).text(""), Contains("at positive voltages the current is limited to 3e-05 A"));
  CHECK(look_at_sweeps(data).on_S.value == Approx(50e-6).epsilon(0.03));
  CHECK(number(fit_iv(data, "vteam").laws.at(0), "threshold_up") == Approx(0.6).margin(0.05));
  // Thresholds that wander by 15 % from cycle to cycle: no law has one value for them.
  std::string wander = "V,I,t\n";
  for (int c = 0, t = 0; c < 4; ++c) {
    bool on = false;
    for (int n = 0; n <= 80; ++n, ++t) {
      const double v = 0.05 * (n <= 20 ? n : n <= 60 ? 40 - n : n - 80);
      on = v > 0.6 + 0.1 * c || (on && v > -0.5 - 0.1 * c);
      wander += fmt::format("{},{},{}\n", v, v * (on ? 1e-4 : 1e-6), t);
    }
  }
  const IvFit none = fit(wander);
  CHECK(none.reads.set_V.n == 4);
  CHECK(none.laws.empty());
  CHECK_THAT(none.why_no_law, Contains("do not describe the loops"));
  const IvFit timeless = fit(Loop{}.csv(false));
  CHECK(timeless.laws.empty());
  CHECK_THAT(timeless.why_no_law, Contains("--rate"));
  // 240 rows in 6 s are 40 rows per second.
  CHECK(number(fit(Loop{}.csv(false), "vteam", 40).laws.at(0), "threshold_up") == Approx(0.6).margin(0.05));
  std::string turned = "V,I\n";
  for (int n = 0; n <= 40; ++n) {
    const double v = (n <= 20 ? n : 40 - n) * -0.05;
    turned += fmt::format("{},{}\n", v, v * (n > 14 ? 1e-4 : 1e-6));
  }
  const IvFit negative = fit(turned);
  CHECK(negative.reads.set_V.value == Approx(-0.75).margin(0.05));
  CHECK_THAT(negative.why_no_law, Contains("set and a reset"));
}

TEST_CASE("a sweep that cannot be used says what one is", "[iv]") {
  CHECK_THROWS_WITH(fit("voltage_V,current_A\n0,0\n0.1,1e-6\n0.2,2e-6\n"),
                    Contains("iv.csv: 3 rows") && Contains("goes out from 0 V and comes back"));
  CHECK_THROWS_WITH(fit("voltage_V,current_A\n0.1,-1e-6\n0.2,2e-6\n"), Contains("iv.csv:2") && Contains("passive"));
  CHECK_THROWS_WITH(fit("voltage_V,current_A,time_s\n0.1,1e-6,1\n0.2,2e-6,1\n"),
                    Contains("iv.csv:3: time 1 s follows"));
  CHECK_THROWS_WITH(fit(Loop{}.csv(), "soft_bounds"), Contains("vteam, yakopcic"));
}

TEST_CASE("lives of devices give device.endurance and its spread", "[endurance_fit]") {
  // Lognormal lives of mean 1e5 cycles and .4, looked at five times a decade up to 1e6; devices end with a window of 0.
  const std::vector<double> draws = normal_draws(11);
  std::string text = "device,cycle,LRS_kOhm,HRS_kOhm\n";
  constexpr int devices = 40;
  for (int d = 0; d < devices; ++d) {
    const double life = 1e5 * std::exp(0.4 * draws[static_cast<std::size_t>(d)] - 0.08);
    for (int k = 0; k <= 30; ++k) {
      const double cycle = std::round(std::pow(10, k / 5.0));
      const double drift = std::pow(0.98, std::log10(cycle));  // g_on loses 2 % a decade
      text += fmt::format("d{},{},{},{}\n", d, cycle, cycle < life ? 10 / drift : 100.0, 100);
    }
  }
  TableLook look;
  bool pulses = true;
  const EnduranceFit fit = fit_endurance(parse_endurance(text, "end.csv", look, pulses), pulses);
  CHECK(!pulses);
  CHECK(fit.lives.size() == devices);
  CHECK(fit.failed == devices);
  // 40 lives of .4 tell their mean to .4/√40 = 6 %, looks a factor 1.6 apart cost little of it.
  CHECK(fit.mean_cycles.value == Approx(1e5).epsilon(0.2));
  CHECK(fit.mean_cycles.low < 1e5);
  CHECK(fit.mean_cycles.high > 1e5);
  CHECK(fit.spread.low < 0.4);
  CHECK(fit.spread.high > 0.4);
  CHECK(fit.on_drift.value == Approx(-0.02).margin(1e-4));
  CHECK(fit.first_ratio == Approx(10));
  CHECK_THAT(endurance_toml(fit, "end.csv"), Contains("[device]\nendurance = ") && Contains("endurance_spread"));
}

TEST_CASE("devices that all failed are not said to have lasted", "[endurance_fit]") {
  std::string text = "device,cycle,LRS_kOhm,HRS_kOhm\n";
  for (int device = 0; device < 5; ++device) {  // each fails a decade after the one before
    for (int decade = 0; decade < 8; ++decade) {
      text += fmt::format("{},{},10,{}\n", device, std::pow(10, decade), decade > device + 1 ? 11 : 200);
    }
  }
  TableLook look;
  bool pulses = false;
  const EnduranceFit fit = fit_endurance(parse_endurance(text, "e.csv", look, pulses), pulses);
  CHECK(fit.failed == 5);
  CHECK_THAT(endurance_text(fit),
             Contains("no device failed before 20 pulses; all had failed by 2e+06; the mean is above") &&
                 Contains("(measure more devices)") && !Contains("lasted"));
}

TEST_CASE("devices that do not fail give a bound and no number", "[endurance_fit]") {
  TableLook look;
  bool pulses = false;
  const auto fit = [&](const std::string& text) {
    return fit_endurance(parse_endurance(text, "e.csv", look, pulses), pulses);
  };
  const EnduranceFit alive = fit("device,cycle,lrs_kOhm,hrs_kOhm\n1,1,5,100\n1,1000,5.1,90\n");
  CHECK(alive.failed == 0);
  CHECK(alive.first_ratio == Approx(20));
  CHECK(alive.last_ratio == Approx(90 / 5.1));
  CHECK(alive.on_drift.value == Approx(std::pow(5 / 5.1, 1 / 3.0) - 1));
  CHECK_THAT(endurance_text(alive), Contains("every device lasted 2000 pulses; none failed"));
  CHECK_THAT(endurance_toml(alive, "e.csv"), !Contains("[device]"));
  // One device that fails between two looks: its life is there, a spread is not.
  const EnduranceFit one = fit("pulse,g_on_uS,g_off_uS\n10,20,1\n100,19,1\n1000,2,1\n");
  CHECK(pulses);
  CHECK(one.mean_cycles.low == 100);
  CHECK(one.mean_cycles.high == 1000);
  CHECK(!one.spread.known());
  CHECK_THROWS_WITH(fit("cycle,LRS_kOhm,HRS_kOhm\n1,100,5\n2,100,5\n"), Contains("e.csv:2") && Contains("swapped"));
  CHECK_THROWS_WITH(fit("cycle,LRS_kOhm\n1,100\n2,100\n"), Contains("no column of the off state"));
  CHECK_THROWS_WITH(fit("LRS_kOhm,HRS_kOhm\n1,100\n"), Contains("\"cycle\" is missing"));
}
