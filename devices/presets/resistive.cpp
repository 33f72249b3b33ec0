// SPDX-License-Identifier: Apache-2.0
// Memories after programming. Resistive and charge-trap ones: fits at a time after programming hold at that time, do not let time
// pass for them. Phase-change: error, drift and 1/f noise over the state; fits are in uS over r = g/g_max.
#include <numbers>

#include "devices/presets.hpp"

namespace nudge {
namespace {

constexpr double uS = 1e-6;

DeviceSpec window_of(double g_min_uS, double g_max_uS) {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = g_min_uS * uS;
  spec.g_max_S = g_max_uS * uS;
  return spec;
}

/// Fit of fourth order over r = g/40 uS, with its short read noise of 1 %.
DeviceSpec wan(const std::vector<double>& micro) {
  DeviceSpec spec = window_of(0, 40);
  for (double c : micro) spec.programming.fit_S.push_back(c * uS);
  spec.read_noise = 0.01;
  return spec;
}

/// Cubic fit over G in uS, up to 39.26 uS.
DeviceSpec wan_cubic() {
  constexpr double g_max_uS = 39.26;
  DeviceSpec spec = window_of(0, g_max_uS);
  double power = 1;
  for (const double c : {1.053, 0.2374, -1.167e-2, 1.536e-4}) {
    spec.programming.fit_S.push_back(c * power * uS);
    power *= g_max_uS;
  }
  spec.read_noise = 0.01;
  return spec;
}

DeviceSpec milo() {
  DeviceSpec spec = window_of(50, 225);
  spec.programming.fit_S = {4.782321 * uS, -0.009107 * 225 * uS};
  return spec;
}

/// Linear fit over g in uS, and logarithmic decay.
DeviceSpec cmo(double constant_uS, double per_uS) {
  DeviceSpec spec = window_of(9, 88.19);
  spec.programming.fit_S = {constant_uS * uS, per_uS * 88.19 * uS};
  spec.retention.decay_slope_S = -0.08900206 * uS;
  spec.retention.decay_spread_S = 0.41183342 * uS;
  spec.retention.decay_spread_slope_S = 0.04201137 * uS;
  return spec;
}

/// Fit of currents at 0.2 V (3.2 uA at 16 uS): sigma_I = A (1 - exp(-I/B)).
DeviceSpec sonos(double a_nA, double b_nA) {
  constexpr double volts = 0.2;
  DeviceSpec spec = window_of(0, 16);
  spec.programming.saturating_S = a_nA * 1e-9 / volts;
  spec.programming.saturating_scale_S = b_nA * 1e-9 / volts;
  spec.read_saturating_S = 12.58e-9 / volts;
  spec.read_scale_S = 215.4e-9 / volts;
  return spec;
}

DeviceSpec taox() {
  DeviceSpec spec = window_of(10.0, 132.6);
  // The 10 % and 90 % quantiles of a Gaussian are 1.2816 standard deviations from the middle.
  const double half_window_uS = 0.5 * (132.6 - 10.0);
  spec.upper_bound_spread = 0.5 * (164 - 104) / 1.2816 / half_window_uS;
  spec.lower_bound_spread = 0.5 * (21.8 - 5.4) / 1.2816 / half_window_uS;
  spec.update = PulseMode::pulsed;
  return spec;
}

}  // namespace

std::vector<DevicePreset> resistive_presets() {
  const std::string wan_source =
      "Wan et al., Nature (2022), doi:10.1038/s41586-022-04992-8; fit: IBM aihwkit 1.1.0 (MIT licence)";
  const std::string wan_note =
      "The short read noise of about 1 % of g_max is set as read_noise per sqrt(tau): its bandwidth is not in the "
      "source. The sources disagree: at 1 s see rram_wan_1s_cubic.";
  const std::string cmo_source =
      "Falcone et al., arXiv:2502.04524; fit: IBM aihwkit 1.1.0 (MIT licence), window 9 to 88.19 uS";
  const std::string cmo_note = "Not modelled: 1/f-like noise K log10(g/uS) with K = 0.02773 uS of the fit.";
  const std::string sonos_source = "Agrawal et al., IEDM 2022; fit: Sandia CrossSim (BSD-3 licence)";
  const std::string sonos_note =
      "The source gives currents; 0.2 V turn 3.2 uA into 16 uS. Its read noise 12.58 nA (1 - exp(-I/215.4 nA)) is "
      "taken per sqrt(tau): its bandwidth is not in the source.";
  return {
      {"rram_wan_1s",
       "HfOx RRAM 1 s after programming",
       wan_source,
       wan_note + preset::own_pulses,
       wan({0.348, 16.030, -43.853, 45.393, -16.815}),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"rram_wan_1s_cubic",
       "HfOx RRAM 1 s after programming, another fit of the same data",
       "Wan et al., Nature (2022), doi:10.1038/s41586-022-04992-8; cubic fit: Sandia CrossSim (BSD-3 licence)",
       "The fit holds up to 39.26 uS. The sources disagree: rram_wan_1s is the quartic fit of IBM aihwkit. Short read "
       "noise of about 1 % of g_max as there, per sqrt(tau)." +
           preset::own_pulses,
       wan_cubic(),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"rram_wan_1day",
       "HfOx RRAM one day after programming",
       wan_source,
       wan_note + preset::own_pulses,
       wan({0.701, 22.086, -50.773, 47.095, -16.458}),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"rram_wan_2days",
       "HfOx RRAM two days after programming",
       wan_source,
       wan_note + preset::own_pulses,
       wan({0.782, 20.274, -43.507, 37.062, -11.934}),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"rram_milo",
       "HfO2 RRAM programmed by incremental gate voltage with verification",
       "Milo et al., IRPS 2021 (IEEE 9405119); linear fit: Sandia CrossSim (BSD-3 licence)",
       "IGVVA-100 algorithm. Not modelled: cubic I-V below 0.5 V." + preset::own_pulses,
       milo(),
       {Aspect::window, Aspect::programming}},
      {"cmo_hfox_0.2",
       "CMO/HfOx ReRAM, programmed to 0.2 %, logarithmic decay",
       cmo_source,
       cmo_note + preset::own_pulses,
       cmo(0.00081107, 0.00106879),
       {Aspect::window, Aspect::programming, Aspect::retention}},
      {"cmo_hfox_2",
       "CMO/HfOx ReRAM, programmed to 2 %, logarithmic decay",
       cmo_source,
       cmo_note + preset::own_pulses,
       cmo(0.0112185391, 0.01129027418),
       {Aspect::window, Aspect::programming, Aspect::retention}},
      {"sonos_0",
       "40 nm SONOS charge trap right after programming",
       sonos_source,
       sonos_note + preset::own_pulses,
       sonos(19.89, 176.3),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"sonos_5days",
       "40 nm SONOS charge trap after five days",
       sonos_source,
       sonos_note + preset::own_pulses,
       sonos(34.58, 207.3),
       {Aspect::window, Aspect::programming, Aspect::read_noise}},
      {"taox_sandia",
       "TaOx ReRAM: window and its spread of 41 devices",
       "Sandia cross-sim-data lookup tables, medians and 10/90 % quantiles of 41 devices, read for this project",
       "Gaussian spreads from the quantiles. The measured steps are not included: constant steps of our default size.",
       taox(),
       {Aspect::window, Aspect::spread}},
  };
}

namespace {

std::vector<double> in_siemens(std::vector<double> micro) {
  for (double& c : micro) c *= uS;
  return micro;
}

/// Window of a fit whose lower end is the reset state.
DeviceSpec reset_window(double g_max_uS, double on_off) {
  DeviceSpec spec = window_of(0, g_max_uS);
  spec.g_min_S = spec.g_max_S / on_off;
  return spec;
}

/// Sets 1/f noise whose published variance Q² ln((t + t_read)/(2 t_read)) counts frequencies up to 1/(2 t_read): the fastest
/// process has 1/(2 pi tau) there.
void flicker_from(DeviceSpec& spec, double t_read_s) { spec.flicker.fastest_s = t_read_s / std::numbers::pi; }

DeviceSpec pcm_like() {
  DeviceSpec spec = reset_window(25, 100);
  spec.programming.fit_S = in_siemens({0.26348, 1.9650, -1.1731});
  spec.retention.drift_start_s = 20;
  spec.retention.drift_fit = {{-0.0155, 0.0244, 0.049, 0.1}};
  spec.retention.drift_spread_fit = {{-0.0125, -0.0059, 0.008, 0.045}};
  spec.flicker.noise = 0.0088;
  spec.flicker.power = 0.65;
  spec.flicker.limit = 0.2;
  flicker_from(spec, 250e-9);
  return spec;
}

/// Device of a HERMES fit. t0_s: t₀ of drift; programming_uS: coefficients of the programming error; spread: StateFit of the
/// spread of ν; flicker: StateFit of Q.
DeviceSpec hermes(double g_max_uS, double t0_s, std::vector<double> programming_uS, std::vector<double> spread,
                  std::vector<double> flicker) {
  DeviceSpec spec = reset_window(g_max_uS, 100);
  spec.programming.fit_S = in_siemens(std::move(programming_uS));
  spec.retention.drift_start_s = t0_s;
  spec.retention.drift_fit = {{-0.0387, -0.0182, 0.072, 0.13, 0.0945, 0.0736, -0.0126, -0.0436}};
  spec.retention.drift_spread_fit = {std::move(spread)};
  spec.flicker.fit = {std::move(flicker)};
  flicker_from(spec, 512e-9);
  return spec;
}

DeviceSpec joshi() {
  DeviceSpec spec = reset_window(25, 100);
  // The source's fit is over G in uS: c_k r^k with r = G/25 uS.
  spec.programming.fit_S = in_siemens({0.28638599, 0.07585724 * 25, -0.00178767 * 25 * 25});
  return spec;
}

DeviceSpec suri() {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = 7e-6;
  spec.g_max_S = 2.2e-3;
  spec.pulses = 30;
  spec.update = PulseMode::pulsed;
  return spec;
}

const std::string floor =
    " The lower end is g_max/100, the on/off ratio suggested for the fit of Joshi et al.; ours for this fit.";
const std::string slow = " The slowest 1/f time constant is our default of 1e4 s.";

DeviceSpec gst() {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = 1.072e-5;
  spec.g_max_S = 2.123e-4;
  return spec;
}

}  // namespace

std::vector<DevicePreset> pcm_presets() {
  const std::string hermes_source =
      "Le Gallo et al., Nat. Electronics (2023), s41928-023-01010-1; Khaddam-Aljameh et al., JSSC (2022), IEEE "
      "9696185; fit: IBM aihwkit 1.1.0 (MIT licence)";
  return {
      {"pcm",
       "phase-change memory of a million-device chip: programming error, drift, 1/f",
       "Nandakumar et al., ICECS 2019 (IEEE 8964852); fit: IBM aihwkit 1.1.0 (MIT licence), PCM-like",
       "t0 = 20 s: a read at this time gives the programmed conductance." + floor + slow + preset::own_pulses,
       pcm_like(),
       {Aspect::window, Aspect::programming, Aspect::slow_noise, Aspect::retention}},
      {"hermes_1",
       "phase-change memory of the HERMES chip, one device per polarity",
       hermes_source,
       "t0 = 200 s." + floor + slow + preset::own_pulses,
       hermes(10.35, 200, {0.15781817, 2.32443916, -2.16310839, 0.68841818},
              {-0.0120, -0.0023, 0.0124, 0.04, 0.3039, 0.0104, 0.0116, -0.0165},
              {-0.0078, 0.0038, 0.0179, 0.04, 0.1591, 0.0088, 0.0768, -0.1352, 0.0664}),
       {Aspect::window, Aspect::programming, Aspect::slow_noise, Aspect::retention}},
      {"hermes_2",
       "phase-change memory of the HERMES chip, two devices per polarity as one",
       hermes_source + "; Vasilopoulos et al., TED (2023), IEEE 10281389",
       "t0 = 300 s. The two devices are one device with the statistics of their sum." + floor + slow +
           preset::own_pulses,
       hermes(20.7, 300, {0.16603222, 4.71806468, -8.48101252, 4.68961419},
              {-0.0117, -0.0057, 0.0091, 0.04, 0.3055, 0.0073, 0.0093, -0.0118},
              {-0.0117, -0.0069, 0.015, 0.04, 0.16, 0.0123, 0.0211, -0.0280, 0.0069}),
       {Aspect::window, Aspect::programming, Aspect::slow_noise, Aspect::retention}},
      {"pcm_joshi",
       "phase-change memory, programming error 27 s after programming",
       "Joshi et al., Nat. Commun. 11:2473 (2020), doi:10.1038/s41467-020-16108-9; quadratic fit: Sandia CrossSim "
       "(BSD-3 licence)",
       "The fit is at 27.36 s and holds up to 25 uS; it has no drift. The sources disagree on drift (pcm, hermes_*)." +
           preset::own_pulses,
       joshi(),
       {Aspect::window, Aspect::programming}},
      {"pcm_suri",
       "Ge2Sb2Te5 phase-change synapse, 30 potentiation pulses",
       "Suri et al., J. Appl. Phys. (2012), numbers of a public fit",
       "Window and number of pulses only; the shape of the curve is not in the source, constant steps are used. The "
       "sources disagree by a factor of ten on such devices: see pcm_gst.",
       suri(),
       {Aspect::window}},
      {"pcm_gst",
       "Ge2Sb2Te5 phase-change memory, window of NeuroSim",
       "NeuroSim's Ge2Sb2Te5 device, from a third-party copy of its parameters",
       "Window only. The sources disagree by a factor of ten on such devices: see pcm_suri." + preset::own_pulses,
       gst(),
       {Aspect::window}},
  };
}

}  // namespace nudge
