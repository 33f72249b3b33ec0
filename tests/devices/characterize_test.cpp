// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "devices/characterize/characterize.hpp"
#include "devices/models/label_curve.hpp"
#include "devices/presets.hpp"
#include "devices/registry.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

CharacterizeOptions small() {
  CharacterizeOptions options;
  options.devices = 20;
  options.samples = 64;
  options.cycles = 2;
  return options;
}

}  // namespace

TEST_CASE("characterize: a constant step, drift and noise of known size are measured", "[devices][statistics]") {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.pulses = 100;
  spec.asymmetry = 0.5;
  spec.retention.drift_exponent = 0.05;
  spec.telegraph = {1, 0.02, 0, 1e-3, 1e-3, 0};
  spec.read_noise = 0.01;
  CharacterizeOptions options = small();
  options.devices = 200;
  options.interval_s = 1e-2;
  const Characterization c = characterize(spec, options);
  // One pulse per point; telegraph noise of 1 % of each of 200 devices moves a mean by 0.1 % of g.
  CHECK(c.staircase.half_up == Approx(50).margin(1));
  CHECK(c.staircase.half_down == Approx(100).margin(1));
  CHECK(c.staircase.pulse.size() == 301);
  CHECK(c.endurance.high_S.back() == Approx(spec.g_max_S).epsilon(5e-3));
  CHECK(c.endurance.low_S.back() == Approx(spec.g_min_S).epsilon(5e-3));
  CHECK(c.endurance.pulses.back() == Approx(1200));
  // Five levels, four decades: noise 1e-3/ln 1e4.
  for (double nu : c.retained.exponent) CHECK(nu == Approx(0.05).margin(1e-3));
  // Telegraph: a/2; looks ten correlation times apart: 64 · 200 of them, two-valued: error below 1 %.
  CHECK(c.noise.slow_std == Approx(0.01).epsilon(0.02));
  CHECK(c.noise.fresh_std == Approx(0.01 * spec.window_S() / (0.5 * (spec.g_min_S + spec.g_max_S))).epsilon(1e-12));
  // White at this distance: a Lorentzian of corner 1/(2 pi 0.5 ms) = 318 Hz below 12.5 Hz.
  CHECK(c.noise.kind == SpectrumKind::other);
  CHECK(std::abs(c.noise.slope) < 0.1);
  double sum = 0;
  for (double share : c.noise.share) sum += share;
  CHECK(sum == Approx(1).epsilon(1e-12));
}

TEST_CASE("characterize: pulses from a bound to half the window are those of the law, either way", "[devices]") {
  // Soft bounds: a pulse takes the share q = 2/1000 (times 1 + a up, 1 - a down, a the asymmetry, over the larger) of what is left.
  const double asymmetry = GENERATE(0.0, -0.07, 0.3, -0.3);
  DeviceSpec spec;
  spec.model = "soft_bounds";
  spec.pulses = 1000;
  spec.asymmetry = asymmetry;
  const Characterization c = characterize(spec, small());
  const auto pulses = [](double share) { return std::log(2) / -std::log(1 - 0.002 * share); };
  const double up = asymmetry < 0 ? (1 + asymmetry) : 1, down = asymmetry > 0 ? (1 - asymmetry) : 1;
  CAPTURE(asymmetry);
  // A look every pulse, linear between: below (q/2)^2.
  CHECK(c.staircase.half_up == Approx(pulses(up)).epsilon(1e-3));
  CHECK(c.staircase.half_down == Approx(pulses(down)).epsilon(1e-3));
}

TEST_CASE("characterize: a part of a pulse follows the law of a memristor", "[devices]") {
  // dx/dt = +/- k (V/V_th - 1)^2 w, w = 1 - x up and x down: x(n) decays by exp(-rate n). 1/g is linear in x.
  const double width_s = GENERATE(20e-9, 100e-9, 500e-9);
  const double off_ohm = 900e3, on_ohm = 40e3;
  DeviceSpec spec;
  spec.model = "vteam";
  spec.g_min_S = 1 / off_ohm;
  spec.g_max_S = 1 / on_ohm;
  spec.pulses = 100;
  spec.shape = {{"k_up", 3e5},     {"k_down", 3e5},      {"alpha_up", 2},         {"alpha_down", 2},
                {"pulse_up", 1.2}, {"pulse_down", -1.2}, {"pulse_width", width_s}};
  const double rate = 3e5 * std::pow(1.2 / 0.5 - 1, 2) * width_s;
  const double middle_ohm = 2 / (spec.g_min_S + spec.g_max_S), x = (off_ohm - middle_ohm) / (off_ohm - on_ohm);
  const Characterization c = characterize(spec, small());
  CAPTURE(width_s);
  // Looks are linear between parts of 1/64 of a pulse, in which 1/R changes by rate/64 (R_off - R_on)/R < 10 %: its bend is
  // below 10 %/8 of a part. Pulses of a table of states are off by 1 % at most (Memristor).
  CHECK(c.staircase.half_down == Approx(-std::log(x) / rate).epsilon(0.01));
  CHECK(c.staircase.half_up == Approx(-std::log(1 - x) / rate).epsilon(0.01));
}

// Soft bounds: a pulse takes the share q of what is left, so after P pulses 1 - (1 - q)^P of the way is gone: A = -1/ln(1 - q),
// and pulses up and down are equal where q_up (g_max - g) = q_down (g - g_min).
TEST_CASE("characterize: figures of soft bounds are those of the law", "[devices]") {
  const double asymmetry = GENERATE(0.0, -0.07, 0.3);
  CAPTURE(asymmetry);
  DeviceSpec spec;
  spec.model = "soft_bounds";
  spec.g_min_S = 1e-6;
  spec.g_max_S = 21e-6;
  spec.pulses = 100;
  spec.asymmetry = asymmetry;
  spec.update_noise = 0.3;  // of arrays: figures are of the mean device
  spec.step_spread = 0.2;
  spec.read_noise = 0.01;
  spec.endurance = 1e6;
  CharacterizeOptions options = small();
  options.record = 60;
  const WriteFigures f = characterize(spec, options).figures;
  const double up = 0.02 * (asymmetry < 0 ? 1 + asymmetry : 1), down = 0.02 * (asymmetry > 0 ? 1 - asymmetry : 1);
  // Rounding of 60 pulses of 1e-16; the minimum of squares of 1e-16 is found to 1e-8, A with it.
  CHECK(f.start_S == Approx(1e-6).epsilon(1e-12));
  CHECK(f.top_S == Approx(21e-6 - 20e-6 * std::pow(1 - up, 60)).epsilon(1e-12));
  CHECK(f.end_S == Approx(1e-6 + (f.top_S - 1e-6) * std::pow(1 - down, 60)).epsilon(1e-12));
  CHECK(f.dynamic_range() == Approx(f.top_S / 1e-6).epsilon(1e-12));
  CHECK(f.up.pulses == Approx(-1 / std::log(1 - up)).epsilon(1e-5));
  CHECK(f.down.pulses == Approx(-1 / std::log(1 - down)).epsilon(1e-5));
  CHECK(f.up.rms < 1e-6);
  CHECK(f.symmetry_S == Approx((up * 21e-6 + down * 1e-6) / (up + down)).epsilon(1e-9));
  CHECK(f.states() == Approx(1 + 1 / (6 * 0.01)).epsilon(1e-9));  // 6 times 1 % of the window
  CHECK(f.endurance == 1e6);
}

// The exponential law is linear in v = exp(-gamma z): equal pulses where A_up e^(gamma z) = A_down e^(-gamma z), to first order in
// a pulse. Label curves are NeuroSim's own: A = N/k.
TEST_CASE("characterize: figures of exponential laws", "[devices]") {
  DeviceSpec spec;
  spec.model = "exponential_step";
  spec.pulses = 1e5;
  spec.shape = {{"A_up", 0.2}, {"A_down", 0.1}, {"gamma_up", 2}, {"gamma_down", 2}, {"a", 0.5}, {"b", 0}};
  const WriteFigures f = characterize(spec, small()).figures;
  const double z = std::log(0.1 / 0.2) / 4;  // = w over the window, as 2 a = 1
  const double symmetric = 0.5 * (spec.g_min_S + spec.g_max_S) + z * spec.window_S();
  CHECK(f.symmetry_S == Approx(symmetric).epsilon(1e-4));  // gamma of a pulse of 1e-5 of the window
  DeviceSpec label;
  label.model = "label_curve";
  label.pulses = 200;
  label.shape = {{"label_up", 2.4}, {"label_down", -1}};
  const WriteFigures own = characterize(label, small()).figures;
  CHECK(own.up.pulses == Approx(200 / curvature_of_label(2.4)).epsilon(1e-5));
  CHECK(own.down.pulses == Approx(200 / curvature_of_label(1)).epsilon(1e-5));
  DeviceSpec straight;
  straight.model = "constant_step";
  straight.pulses = 50;
  const WriteFigures constant = characterize(straight, small()).figures;
  CHECK(std::isinf(constant.up.pulses));
  CHECK(constant.symmetric);
  CHECK(constant.symmetry_S == 0);
}

TEST_CASE("characterize: every model and preset, as text, JSON and a file", "[devices]") {
  std::vector<std::pair<std::string, DeviceSpec>> all;
  for (const DeviceModel& model : device_models()) {
    all.emplace_back(model.name, DeviceSpec{});
    all.back().second.model = model.name;
  }
  for (const DevicePreset& preset : device_presets()) all.emplace_back(preset.name, preset.spec);
  for (const auto& [name, spec] : all) {
    CAPTURE(name);
    const Characterization c = characterize(spec, small());
    CHECK_THAT(summary_text(c, name), Contains(name) && Contains("noise at mid-window") && !Contains("nan"));
    const auto json = nlohmann::json::parse(summary_json(c, name));
    CHECK(json["drift"]["levels"].size() == 5);
    H5Document file;
    write(file, c);
    CHECK(file.bytes().size() > 1000);
    if (c.staircase.pulse.empty()) continue;
    // Pulses up raise and pulses down lower the mean of any device.
    CHECK(c.endurance.high_S.back() > c.endurance.low_S.back());
  }
}

TEST_CASE("characterize: options out of range", "[devices]") {
  CharacterizeOptions options = small();
  options.devices = 0;
  CHECK_THROWS_WITH(characterize(DeviceSpec{}, options), Contains("--devices 0") && Contains("[1, 100000]"));
  options = small();
  options.interval_s = 0;
  CHECK_THROWS_WITH(characterize(DeviceSpec{}, options), Contains("--interval"));
  options = small();
  options.devices = 100000;
  options.samples = 100000;
  CHECK_THROWS_WITH(characterize(DeviceSpec{}, options), Contains("1e7"));
}

TEST_CASE("characterize: a device of levels is programmed to them, and has no more states than them", "[devices]") {
  DeviceSpec spec;
  spec.model = "soft_bounds";
  spec.levels = 4;
  spec.read_noise = 0.02;
  const Characterization c = characterize(spec, small());
  REQUIRE(c.retained.target_S.size() == 4);
  REQUIRE(c.retained.mean_S.rows() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    const double level_S = spec.g_min_S + spec.window_S() * static_cast<double>(k) / 3;
    CHECK(c.retained.target_S[k] == Approx(level_S).epsilon(1e-12));
    CHECK(c.retained.mean_S(static_cast<Index>(k), 0) == Approx(level_S).epsilon(1e-12));
  }
  CHECK(c.noise.target_S ==
        Approx(spec.g_min_S + spec.window_S() * 2 / 3).epsilon(1e-12));  // half a place is rounded up
  CHECK(c.figures.states() == 4);
  CHECK(c.figures.read_states == Approx(1 + 1 / (6 * 0.02)).epsilon(1e-6));
  CHECK_THAT(summary_text(c, "cell"),
             Contains("states                 4, as device.levels: reads of one tau keep 9.333"));
  spec.levels = 20;
  CHECK_THAT(summary_text(characterize(spec, small()), "cell"),
             Contains("states                 9.333, 6 sigma apart in reads of one tau, of 20 device.levels"));
  spec.levels = 2;
  spec.read_noise = 0;
  CHECK_THAT(summary_text(characterize(spec, small()), "cell"), Contains("states                 2, as device.levels"));
}

TEST_CASE("characterize: a leak is not taken for noise", "[devices]") {
  DeviceSpec spec;
  spec.model = "soft_bounds";
  for (const double leak_s : {1.0, 10.0, 100.0, 1e4}) {  // a record has 64 ms, after 64 s
    for (const double spread : {0.0, 0.1}) {
      spec.retention.leak_time_s = leak_s;
      spec.retention.leak_spread = spread;
      spec.retention.leak_rest = 0.2;
      const Characterization c = characterize(spec, small());
      CAPTURE(leak_s, spread);
      CHECK(c.noise.kind == SpectrumKind::none);
      CHECK(c.noise.slow_std == 0);
      CHECK(c.figures.states() == 0);
      CHECK_THAT(summary_text(c, "cell"), Contains("not limited by reads") && Contains("no 1/f found"));
    }
  }
}
