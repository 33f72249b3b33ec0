// SPDX-License-Identifier: Apache-2.0
// Phase-change memory after programming: error, drift and 1/f noise over the state. Fits are in uS over r = g/g_max.
#include "devices/presets.hpp"

namespace nudge {
namespace {

constexpr double uS = 1e-6;
constexpr double pi = 3.14159265358979323846;

std::vector<double> in_siemens(std::vector<double> micro) {
  for (double& c : micro) c *= uS;
  return micro;
}

/// Window of a fit whose lower end is the reset state.
DeviceSpec window_of(double g_max_uS, double on_off) {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_max_S = g_max_uS * uS;
  spec.g_min_S = spec.g_max_S / on_off;
  return spec;
}

/// Sets 1/f noise whose published variance Q² ln((t + t_read)/(2 t_read)) counts frequencies up to 1/(2 t_read): the fastest
/// process has 1/(2 pi tau) there.
void flicker_from(DeviceSpec& spec, double t_read_s) { spec.flicker.fastest_s = t_read_s / pi; }

DeviceSpec pcm_like() {
  DeviceSpec spec = window_of(25, 100);
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
  DeviceSpec spec = window_of(g_max_uS, 100);
  spec.programming.fit_S = in_siemens(std::move(programming_uS));
  spec.retention.drift_start_s = t0_s;
  spec.retention.drift_fit = {{-0.0387, -0.0182, 0.072, 0.13, 0.0945, 0.0736, -0.0126, -0.0436}};
  spec.retention.drift_spread_fit = {std::move(spread)};
  spec.flicker.fit = {std::move(flicker)};
  flicker_from(spec, 512e-9);
  return spec;
}

DeviceSpec joshi() {
  DeviceSpec spec = window_of(25, 100);
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
    " The lower end is g_max/100, the on/off ratio suggested for the fit of Joshi et al.; ours for "
    "this fit.";
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
      "9696185; "
      "fit: IBM aihwkit 1.1.0 (MIT licence)";
  return {
      {"pcm", "phase-change memory of a million-device chip: programming error, drift, 1/f",
       "Nandakumar et al., ICECS 2019 (IEEE 8964852); fit: IBM aihwkit 1.1.0 (MIT licence), PCM-like",
       "t0 = 20 s: what is programmed is what is read then." + floor + slow + preset::own_pulses, pcm_like()},
      {"hermes_1", "phase-change memory of the HERMES chip, one device per polarity", hermes_source,
       "t0 = 200 s." + floor + slow + preset::own_pulses,
       hermes(10.35, 200, {0.15781817, 2.32443916, -2.16310839, 0.68841818},
              {-0.0120, -0.0023, 0.0124, 0.04, 0.3039, 0.0104, 0.0116, -0.0165},
              {-0.0078, 0.0038, 0.0179, 0.04, 0.1591, 0.0088, 0.0768, -0.1352, 0.0664})},
      {"hermes_2", "phase-change memory of the HERMES chip, two devices per polarity as one",
       hermes_source + "; Vasilopoulos et al., TED (2023), IEEE 10281389",
       "t0 = 300 s. The two devices are one device with the statistics of their sum." + floor + slow +
           preset::own_pulses,
       hermes(20.7, 300, {0.16603222, 4.71806468, -8.48101252, 4.68961419},
              {-0.0117, -0.0057, 0.0091, 0.04, 0.3055, 0.0073, 0.0093, -0.0118},
              {-0.0117, -0.0069, 0.015, 0.04, 0.16, 0.0123, 0.0211, -0.0280, 0.0069})},
      {"pcm_joshi", "phase-change memory, programming error 27 s after programming",
       "Joshi et al., Nat. Commun. 11:2473 (2020), doi:10.1038/s41467-020-16108-9; quadratic fit: Sandia CrossSim "
       "(BSD-3 licence)",
       "The fit is at 27.36 s and holds up to 25 uS; it has no drift. The sources disagree on drift (pcm, hermes_*)." +
           preset::own_pulses,
       joshi()},
      {"pcm_suri", "Ge2Sb2Te5 phase-change synapse, 30 potentiation pulses",
       "Suri et al., J. Appl. Phys. (2012), numbers of a public fit",
       "Window and number of pulses only; the shape of the curve is not in the source, constant steps are used. The "
       "sources disagree by a factor of ten on such devices: see pcm_gst.",
       suri()},
      {"pcm_gst", "Ge2Sb2Te5 phase-change memory, window of NeuroSim",
       "NeuroSim's Ge2Sb2Te5 device, from a third-party copy of its parameters",
       "Window only. The sources disagree by a factor of ten on such devices: see pcm_suri." + preset::own_pulses,
       gst()},
  };
}

}  // namespace nudge
