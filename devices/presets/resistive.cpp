// SPDX-License-Identifier: Apache-2.0
// Resistive and charge-trap memories after programming. Fits at a time after programming hold at that time: do not let
// time pass for them.
#include <cmath>

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
      {"rram_wan_1s", "HfOx RRAM 1 s after programming", wan_source, wan_note + preset::own_pulses,
       wan({0.348, 16.030, -43.853, 45.393, -16.815})},
      {"rram_wan_1s_cubic", "HfOx RRAM 1 s after programming, another fit of the same data",
       "Wan et al., Nature (2022), doi:10.1038/s41586-022-04992-8; cubic fit: Sandia CrossSim (BSD-3 licence)",
       "The fit holds up to 39.26 uS. The sources disagree: rram_wan_1s is the quartic fit of IBM aihwkit. Short read "
       "noise of about 1 % of g_max as there, per sqrt(tau)." +
           preset::own_pulses,
       wan_cubic()},
      {"rram_wan_1day", "HfOx RRAM one day after programming", wan_source, wan_note + preset::own_pulses,
       wan({0.701, 22.086, -50.773, 47.095, -16.458})},
      {"rram_wan_2days", "HfOx RRAM two days after programming", wan_source, wan_note + preset::own_pulses,
       wan({0.782, 20.274, -43.507, 37.062, -11.934})},
      {"rram_milo", "HfO2 RRAM programmed by incremental gate voltage with verification",
       "Milo et al., IRPS 2021 (IEEE 9405119); linear fit: Sandia CrossSim (BSD-3 licence)",
       "IGVVA-100 algorithm. Not modelled: cubic I-V below 0.5 V." + preset::own_pulses, milo()},
      {"cmo_hfox_0.2", "CMO/HfOx ReRAM, programmed to 0.2 %, logarithmic decay", cmo_source,
       cmo_note + preset::own_pulses, cmo(0.00081107, 0.00106879)},
      {"cmo_hfox_2", "CMO/HfOx ReRAM, programmed to 2 %, logarithmic decay", cmo_source, cmo_note + preset::own_pulses,
       cmo(0.0112185391, 0.01129027418)},
      {"sonos_0", "40 nm SONOS charge trap right after programming", sonos_source, sonos_note + preset::own_pulses,
       sonos(19.89, 176.3)},
      {"sonos_5days", "40 nm SONOS charge trap after five days", sonos_source, sonos_note + preset::own_pulses,
       sonos(34.58, 207.3)},
      {"taox_sandia", "TaOx ReRAM: window and its spread of 41 devices",
       "Sandia cross-sim-data lookup tables, medians and 10/90 % quantiles of 41 devices, read for this project",
       "Gaussian spreads from the quantiles. The measured steps are not included: constant steps of our default size.",
       taox()},
  };
}

}  // namespace nudge
