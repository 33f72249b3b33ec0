// SPDX-License-Identifier: Apache-2.0
// Every number of every preset against the tables of its source, in the source's own form and units.
#include <cmath>
#include <map>
#include <set>

#include "devices/presets.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

const DeviceSpec& spec_of(const std::string& name) { return device_preset(name).spec; }

double uS(double micro) { return micro * 1e-6; }

/// dw_min and bounds of a normalised weight, spreads and noises in the units of the sources.
struct Pulsed {
  std::string name, model;
  double dw_min, w_max, w_min;
  double dw_min_dtod, w_max_dtod, w_min_dtod, up_down_dtod, dw_min_std, up_down, write_noise_std;
  std::map<std::string, double> shape = {};
  double log_dtod = 0;
};

const std::vector<Pulsed>& pulsed_table() {
  static const std::vector<Pulsed> table = {
      {"reram_es",
       "exponential_step",
       0.00135,
       1,
       -1,
       .2,
       .3,
       .3,
       .05,
       5.0,
       .259359,
       75,
       {{"A_up", -1.18445}, {"A_down", -0.081404}, {"gamma_up", 5}, {"gamma_down", 5}, {"a", -0.5}, {"b", -0.5}}},
      {"reram_sb", "soft_bounds", 0.002, 1.25, -0.75, .3, .24, .40, .01, 3.75, 0, 56},
      {"reram_array_om",
       "soft_bounds_reference",
       0.0949,
       1,
       -1,
       0,
       .3499,
       .5695,
       .01,
       .4158,
       0,
       1.4113,
       {{"symmetry_spread", 0.05 / 2}},
       .7829},  // 0.05 of a weight whose window is 2
      {"reram_array_hfo2",
       "soft_bounds_reference",
       0.4622,
       1,
       -1,
       0,
       .4295,
       .5990,
       .01,
       .2174,
       0,
       .5841,
       {{"symmetry_spread", 0.05 / 2}},
       .7125},
      {"capacitor",
       "linear_step",
       0.005,
       1,
       -1,
       .1,
       .07,
       .07,
       .06,
       .3,
       0,
       0,
       {{"gamma_up", .05}, {"gamma_down", .05}, {"gamma_spread", .01}, {"mean_bounds", 1}}},
      {"ecram",
       "linear_step",
       0.002,
       1.1724,
       -0.8276,
       .1,
       .05,
       .05,
       .01,
       .3,
       0,
       0,
       {{"gamma_up", .1153}, {"gamma_down", .5085}, {"gamma_spread", .05}, {"mean_bounds", 1}}},
      {"ecram_mo",
       "linear_step",
       2.8214e-4,
       1.1714,
       -0.8286,
       .1,
       .05,
       .05,
       .01,
       2.0,
       0,
       0,
       {{"gamma_up", .4152}, {"gamma_down", .7342}, {"gamma_spread", .05}, {"mean_bounds", 1}}},
      {"idealized", "constant_step", 0.0002, 1, -1, .3, .3, .3, 0, .3, 0, 0},
      {"gokmen_vlasov", "constant_step", 0.0016, 1, -1, .3, .3, .3, .01, .3, 0, 0},
      // The source's window is 0 to 2 and its reference 0; here the reference is the middle: the spread 0.1 of w_max = 2
      // is 0.2 of the half window, z = 2 a w/2 + b shifts b by a.
      {"pcm_pulsed",
       "exponential_step",
       0.01,
       1,
       -1,
       .2,
       .2,
       0,
       .05,
       .6,
       0,
       0,
       {{"A_up", -27.235}, {"A_down", -2.235}, {"gamma_up", 2.5}, {"gamma_down", 2.5}, {"a", -1}, {"b", 0 - 1}}},
  };
  return table;
}

struct Synapse {
  std::string name;
  double up, down, label_up, label_down, g_max_S, g_min_S, cycle;
  double volts_up = 0, seconds_up = 0, volts_down = 0, seconds_down = 0;
};

const std::vector<Synapse>& synapse_table() {
  static const std::vector<Synapse> table = {
      {"ag_asi", 97, 100, 2.4, -4.88, 3.8462e-8, 3.0769e-9, .035, 3.2, 300e-6, 2.8, 300e-6},
      {"taox_tiox", 102, 102, 1.85, -1.79, 2e-7, 1e-7, .01, 3, 40e-3, 3, 10e-3},
      {"pcmo", 50, 50, 3.68, -6.76, 4.35e-8, 6.36e-9, .01, 2, 1e-3, 2, 1e-3},
      {"alox_hfo2", 40, 40, 1.94, -0.61, 5.9172e-5, 1.3357e-5, .05, .9, 100e-6, 1, 100e-6},
      {"taox_hfox", 128, 128, .04, -0.63, 1e-5, 1e-6, .037, 1.6, 50e-9, 1.6, 50e-9},
      {"epiram", 256, 256, .5, -0.5, 1.2346e-5, 2.4593e-7, .02, 5, 5e-6, 3, 5e-6},
      {"hzo_fefet", 32, 32, 1.75, 1.46, 1.788e-6, 3.973e-8, .005},
      {"synapse_target", 64, 64, 1, -1, 5e-6, 1e-7, .02},
      {"synapse_ideal", 64, 64, 0, 0, 5e-6, 1e-7, 0, 2, 10e-9, 2, 10e-9},
      {"cell_3t1c", 32, 32, .2, -0.2, 2e-5, 4e-6, .005},
  };
  return table;
}

/// Programming error in uS at r = g/g_max, by the formula of the source.
struct Programmed {
  std::string name;
  double g_min_uS, g_max_uS;
  double (*sigma_uS)(double r);
};

const std::vector<Programmed>& programmed_table() {
  static const std::vector<Programmed> table = {
      {"pcm", .25, 25, [](double r) { return .26348 + 1.9650 * r - 1.1731 * r * r; }},
      {"hermes_1", .1035, 10.35,
       [](double r) { return .15781817 + 2.32443916 * r - 2.16310839 * r * r + .68841818 * r * r * r; }},
      {"hermes_2", .207, 20.7,
       [](double r) { return .16603222 + 4.71806468 * r - 8.48101252 * r * r + 4.68961419 * r * r * r; }},
      {"pcm_joshi", .25, 25, [](double r) { return -.00178767 * 625 * r * r + .07585724 * 25 * r + .28638599; }},
      {"rram_wan_1s", 0, 40, [](double r) { return .348 + r * (16.030 + r * (-43.853 + r * (45.393 - 16.815 * r))); }},
      {"rram_wan_1day", 0, 40,
       [](double r) { return .701 + r * (22.086 + r * (-50.773 + r * (47.095 - 16.458 * r))); }},
      {"rram_wan_2days", 0, 40,
       [](double r) { return .782 + r * (20.274 + r * (-43.507 + r * (37.062 - 11.934 * r))); }},
      {"rram_wan_1s_cubic", 0, 39.26,
       [](double r) {
         const double g = 39.26 * r;
         return 1.536e-4 * g * g * g - 1.167e-2 * g * g + .2374 * g + 1.053;
       }},
      {"rram_milo", 50, 225, [](double r) { return -.009107 * 225 * r + 4.782321; }},
      {"cmo_hfox_0.2", 9, 88.19, [](double r) { return .00081107 + .00106879 * 88.19 * r; }},
      {"cmo_hfox_2", 9, 88.19, [](double r) { return .0112185 + .0112903 * 88.19 * r; }},
      // Currents: 3.2 uA at 16 uS, 0.2 V.
      {"sonos_0", 0, 16, [](double r) { return 19.89e-3 * (1 - std::exp(-3200 * r / 176.3)) / .2; }},
      {"sonos_5days", 0, 16, [](double r) { return 34.58e-3 * (1 - std::exp(-3200 * r / 207.3)) / .2; }},
  };
  return table;
}

const std::set<std::string> window_only = {"pcm_suri", "pcm_gst", "taox_sandia"};
const std::set<std::string> learners = {"hfox_reset", "hfo2_1t1r"};  // preset_records_test.cpp has their numbers

}  // namespace

TEST_CASE("presets: pulse statistics are those of the sources", "[devices]") {
  const std::set<std::string> additive = {"reram_sb", "capacitor", "reram_array_om", "reram_array_hfo2"};
  for (const Pulsed& p : pulsed_table()) {
    CAPTURE(p.name);
    const DeviceSpec& s = spec_of(p.name);
    CHECK(s.model == p.model);
    CHECK(s.pulses == Approx((p.w_max - p.w_min) / p.dw_min).epsilon(1e-12));
    CHECK(s.reference == Approx(-p.w_min / (p.w_max - p.w_min)).epsilon(1e-12));
    CHECK(s.step_spread == p.dw_min_dtod);
    CHECK(s.step_log_spread == p.log_dtod);
    CHECK(s.upper_bound_spread == p.w_max_dtod);
    CHECK(s.lower_bound_spread == p.w_min_dtod);
    CHECK(s.asymmetry_spread == p.up_down_dtod);
    CHECK(s.asymmetry == p.up_down);
    // mult_noise = false in the source: noise of one size everywhere.
    const bool floor = additive.count(p.name) == 1;
    CHECK((floor ? s.update_noise_floor : s.update_noise) == p.dw_min_std);
    CHECK((floor ? s.update_noise : s.update_noise_floor) == 0);
    CHECK(s.programming.write_noise == p.write_noise_std);
    CHECK(s.shape == p.shape);
    CHECK(s.update == PulseMode::pulsed);
  }
  // Steps that the notes of the sources count.
  CHECK(std::lround(spec_of("reram_es").pulses) == 1481);
  CHECK(std::lround(spec_of("capacitor").pulses) == 400);
  CHECK(std::lround(spec_of("ecram_mo").pulses) == 7089);
  CHECK(spec_of("reram_array_hfo2").pulses == Approx(4.3).margin(0.05));
}

TEST_CASE("presets: synapses of the nonlinearity table", "[devices]") {
  for (const Synapse& y : synapse_table()) {
    CAPTURE(y.name);
    const DeviceSpec& s = spec_of(y.name);
    CHECK(s.model == "label_curve");
    CHECK(s.g_max_S == y.g_max_S);
    CHECK(s.g_min_S == y.g_min_S);
    CHECK(s.pulses == y.up);
    CHECK(s.pulses / (1 - s.asymmetry) == Approx(y.down).epsilon(1e-12));  // down pulses are 1 − a of the up pulses
    CHECK(s.shape_value("label_up") == y.label_up);
    CHECK(s.shape_value("label_down") == y.label_down);
    CHECK(s.update_noise / s.pulses == Approx(y.cycle).epsilon(1e-12));  // of the window per pulse
    CHECK(s.pulse_up.voltage_V == y.volts_up);
    CHECK(s.pulse_up.width_s == y.seconds_up);
    CHECK(s.pulse_down.voltage_V == y.volts_down);
    CHECK(s.pulse_down.width_s == y.seconds_down);
  }
}

TEST_CASE("presets: programming errors follow the published fits over the state", "[devices]") {
  for (const Programmed& p : programmed_table()) {
    CAPTURE(p.name);
    const DeviceSpec& s = spec_of(p.name);
    CHECK(s.g_min_S == Approx(uS(p.g_min_uS)).epsilon(1e-12));
    CHECK(s.g_max_S == Approx(uS(p.g_max_uS)).epsilon(1e-12));
    for (const double r : {0.1, 0.35, 0.6, 0.85, 1.0}) {
      // 1e-5: two of the fits are printed with six digits.
      CHECK(s.programming.sigma_S(r * s.g_max_S, s.g_max_S) == Approx(uS(p.sigma_uS(r))).epsilon(1e-5));
    }
  }
}

TEST_CASE("presets: drift, decay, slow and read noise", "[devices]") {
  const auto clip = [](double x, double low, double high) { return std::min(std::max(x, low), high); };
  const DeviceSpec& pcm = spec_of("pcm");
  CHECK(pcm.retention.drift_start_s == 20);
  CHECK(spec_of("hermes_1").retention.drift_start_s == 200);
  CHECK(spec_of("hermes_2").retention.drift_start_s == 300);
  for (const double r : {0.02, 0.05, 0.09, 0.2, 0.5, 0.9}) {
    CAPTURE(r);
    CHECK(pcm.retention.mean_exponent(r) == Approx(clip(-.0155 * std::log(r) + .0244, .049, .1)).epsilon(1e-12));
    CHECK(pcm.retention.exponent_spread(r) == Approx(clip(-.0125 * std::log(r) - .0059, .008, .045)).epsilon(1e-12));
    CHECK(pcm.flicker.q(r) == Approx(std::min(.0088 / std::pow(r, .65), .2)).epsilon(1e-12));
    for (const char* name : {"hermes_1", "hermes_2"}) {
      const double nu = r < .0945 ? clip(-.0387 * std::log(r) - .0182, .072, .13) : -.0436 * r * r - .0126 * r + .0736;
      CHECK(spec_of(name).retention.mean_exponent(r) == Approx(nu).epsilon(1e-12));
    }
    const double l = std::log(r);
    CHECK(spec_of("hermes_1").retention.exponent_spread(r) ==
          Approx(r < .3039 ? clip(-.0120 * l - .0023, .0124, .04) : (-.0165 * r + .0116) * r + .0104).epsilon(1e-12));
    CHECK(spec_of("hermes_2").retention.exponent_spread(r) ==
          Approx(r < .3055 ? clip(-.0117 * l - .0057, .0091, .04) : (-.0118 * r + .0093) * r + .0073).epsilon(1e-12));
    CHECK(spec_of("hermes_1").flicker.q(r) ==
          Approx(r < .1591 ? clip(-.0078 * l + .0038, .0179, .04) : ((.0664 * r - .1352) * r + .0768) * r + .0088)
              .epsilon(1e-12));
    CHECK(spec_of("hermes_2").flicker.q(r) ==
          Approx(r < .16 ? clip(-.0117 * l - .0069, .015, .04) : ((.0069 * r - .0280) * r + .0211) * r + .0123)
              .epsilon(1e-12));
  }
  // The published 1/f variance counts frequencies up to 1/(2 t_read).
  CHECK(pcm.flicker.fastest_s == Approx(250e-9 / std::acos(-1.0)).epsilon(1e-12));
  CHECK(spec_of("hermes_1").flicker.fastest_s == Approx(512e-9 / std::acos(-1.0)).epsilon(1e-12));
  for (const char* name : {"cmo_hfox_0.2", "cmo_hfox_2"}) {
    const RetentionSpec& decay = spec_of(name).retention;
    CHECK(decay.decay_slope_S == Approx(uS(-.089)).epsilon(1e-4));
    CHECK(decay.decay_spread_S == Approx(uS(.4118)).epsilon(1e-4));
    CHECK(decay.decay_spread_slope_S == Approx(uS(.0420)).epsilon(1e-3));
  }
  for (const char* name : {"rram_wan_1s", "rram_wan_1day", "rram_wan_2days", "rram_wan_1s_cubic"}) {
    CHECK(spec_of(name).read_noise == 0.01);
  }
  for (const char* name : {"sonos_0", "sonos_5days"}) {
    const DeviceSpec& s = spec_of(name);
    for (const double nA : {50.0, 400.0, 3200.0}) {
      CHECK(s.read_sigma_S(nA * 1e-9 / .2) * .2 == Approx(12.58e-9 * (1 - std::exp(-nA / 215.4))).epsilon(1e-12));
    }
  }
  const DeviceSpec& taox = spec_of("taox_sandia");
  CHECK(taox.g_min_S == Approx(uS(10.0)).epsilon(1e-12));
  CHECK(taox.g_max_S == Approx(uS(132.6)).epsilon(1e-12));
  // 10 and 90 % of a Gaussian lie 1.28155 standard deviations from its middle: 60 uS and 16.4 uS apart.
  CHECK(taox.upper_bound_spread * 0.5 * taox.window_S() * 2 * 1.28155 == Approx(uS(60)).epsilon(1e-4));
  CHECK(taox.lower_bound_spread * 0.5 * taox.window_S() * 2 * 1.28155 == Approx(uS(16.4)).epsilon(1e-4));
  CHECK(spec_of("pcm_suri").g_min_S == 7e-6);
  CHECK(spec_of("pcm_suri").g_max_S == 2.2e-3);
  CHECK(spec_of("pcm_suri").pulses == 30);
  CHECK(spec_of("pcm_gst").g_min_S == 1.072e-5);
  CHECK(spec_of("pcm_gst").g_max_S == 2.123e-4);
}

TEST_CASE("presets: none is left out of these tables, and sources that disagree say so", "[devices]") {
  std::set<std::string> checked = window_only;
  checked.insert(learners.begin(), learners.end());
  for (const Pulsed& p : pulsed_table()) checked.insert(p.name);
  for (const Synapse& y : synapse_table()) checked.insert(y.name);
  for (const Programmed& p : programmed_table()) checked.insert(p.name);
  for (const DevicePreset& preset : device_presets()) {
    CAPTURE(preset.name);
    CHECK(checked.count(preset.name) == 1);
  }
  CHECK(device_presets().size() == checked.size());
  for (const char* name :
       {"gokmen_vlasov", "pcm_joshi", "pcm_suri", "pcm_gst", "rram_wan_1s", "rram_wan_1s_cubic", "taox_tiox"}) {
    CAPTURE(name);
    CHECK_THAT(device_preset(name).note, Contains("disagree"));
  }
  CHECK_THAT(device_preset("reram_array_om").note, Contains("13.48 %"));
  CHECK_THAT(device_preset("reram_array_hfo2").note, Contains("9.77 %"));
}
