// SPDX-License-Identifier: Apache-2.0
// Published pulse statistics. The sources state weights without unit, w in [w_min, w_max] with mean pulse dw_min: pulses =
// (w_max − w_min)/dw_min, reference = −w_min/(w_max − w_min), spreads and noises are relative numbers as published. The
// window in siemens is not part of these sources: g_max is the default one and g_min the smallest that leaves the spread of
// the lower bounds as published (devices/spreads.hpp).
// Analogue synapses as tabulated for NeuroSim: window, states, nonlinearity labels, cycle-to-cycle noise of the window.
#include <algorithm>

#include "devices/presets.hpp"
#include "devices/spreads.hpp"

namespace nudge {
namespace {

/// Normalised numbers of one published fit, in the order of the sources.
struct Published {
  std::string model;
  double dw_min, w_max, w_min;
  double step_spread, upper_bound_spread, lower_bound_spread, asymmetry_spread;
  double update_noise;
  double asymmetry;
  double write_noise = 0;
};

/// Kind of update noise: a share of the step at hand, or of the same size everywhere.
enum class Noise { of_step, floor };

DeviceSpec spec_of(const Published& p, std::map<std::string, double> shape = {}, Noise noise = Noise::of_step) {
  DeviceSpec spec;
  spec.model = p.model;
  spec.pulses = (p.w_max - p.w_min) / p.dw_min;
  spec.reference = -p.w_min / (p.w_max - p.w_min);
  spec.asymmetry = p.asymmetry;
  spec.step_spread = p.step_spread;
  spec.asymmetry_spread = p.asymmetry_spread;
  spec.upper_bound_spread = p.upper_bound_spread;
  spec.lower_bound_spread = p.lower_bound_spread;
  (noise == Noise::floor ? spec.update_noise_floor : spec.update_noise) = p.update_noise;
  spec.programming.write_noise = p.write_noise;
  spec.update = PulseMode::pulsed;
  spec.shape = std::move(shape);
  spec.g_min_S = std::max(spec.g_min_S, least_g_min_S(spec));
  return spec;
}

/// Preset of an array fit: the numbers of p with the log-normal spread of the pulse size.
DeviceSpec array_of(const Published& p, double log_spread) {
  DeviceSpec spec = spec_of(p, {{"symmetry_spread", 0.025}}, Noise::floor);
  spec.step_log_spread = log_spread;
  return spec;
}

const std::string window =
    " Window in siemens: not in the source; g_max is our default, g_min leaves 4 standard deviations of the lower "
    "bounds above 0.";
// What the sources have, in every list of this file.
const std::vector<Aspect> pulses_of = {Aspect::curve, Aspect::spread, Aspect::update_noise};
const std::vector<Aspect> writes_of = {Aspect::curve, Aspect::spread, Aspect::update_noise, Aspect::programming};

const std::string fitted_by_aihwkit = "; fit: IBM aihwkit 1.1.0 (MIT licence), preset ";

/// The published record of the HfO2 devices, and how far a preset is from it.
PresetRecord gong_record(double rms_up, double rms_down) {
  return {"gong_pulses.csv",
          "1,000 up and 1,000 down pulses of one device, normalised to its window",
          "Gong et al. (2018), as IBM aihwkit ships it (examples/csv/gong_et_al.csv, commit 4545f11 of 2026-06-23)",
          "MIT licence",
          rms_up,
          rms_down};
}

}  // namespace

std::vector<DevicePreset> pulsed_presets() {
  return {
      {"reram_es", "HfO2 ReRAM, exponential step",
       "Gong et al., Nat. Commun. 9:2102 (2018), doi:10.1038/s41467-018-04485-1" + fitted_by_aihwkit + "ReRamES",
       "Device-to-device and update noise of the source are larger than its window: 5 pulses per pulse." + window,
       spec_of(
           {"exponential_step", 0.00135, 1, -1, 0.2, 0.3, 0.3, 0.05, 5.0, 0.259359, 75},
           {{"A_up", -1.18445}, {"A_down", -0.081404}, {"gamma_up", 5}, {"gamma_down", 5}, {"a", -0.5}, {"b", -0.5}}),
       writes_of, gong_record(0.076, 0.084)},
      {"reram_sb", "HfO2 ReRAM, soft bounds (looser fit of the same data)",
       "Gong et al., Nat. Commun. 9:2102 (2018), doi:10.1038/s41467-018-04485-1" + fitted_by_aihwkit + "ReRamSB",
       "The source assumes devices calibrated to their symmetry point by a reference device that it does not model; "
       "here the two devices of a pair do that for the mean." +
           window,
       spec_of({"soft_bounds", 0.002, 1.25, -0.75, 0.3, 0.24, 0.40, 0.01, 3.75, 0, 56}, {}, Noise::floor), writes_of,
       gong_record(0.097, 0.086)},
      {"capacitor", "14 nm trench capacitor cell, linear step",
       "Li et al., VLSI 2018 (IEEE 8510648)" + fitted_by_aihwkit + "Capacitor",
       "The source leaks with a lifetime of 1e6 minibatches, spread 0.3; here there is no leak. To add it, set "
       "device.leak_time to 1e6 training steps of your circuit and device.leak_spread to 0.3." +
           window,
       spec_of({"linear_step", 0.005, 1, -1, 0.1, 0.07, 0.07, 0.06, 0.3, 0},
               {{"gamma_up", 0.05}, {"gamma_down", 0.05}, {"gamma_spread", 0.01}, {"mean_bounds", 1}}, Noise::floor),
       pulses_of},
      {"ecram", "Li/WO3 electrochemical RAM, linear step",
       "Tang et al., IEDM 2018 (IEEE 8614551)" + fitted_by_aihwkit + "EcRam", window.substr(1),
       spec_of({"linear_step", 0.002, 1.1724, -0.8276, 0.1, 0.05, 0.05, 0.01, 0.3, 0},
               {{"gamma_up", 0.1153}, {"gamma_down", 0.5085}, {"gamma_spread", 0.05}, {"mean_bounds", 1}}),
       pulses_of},
      {"ecram_mo", "metal-oxide electrochemical RAM, linear step",
       "Kim et al., IEDM 2019 (IEEE 8993463)" + fitted_by_aihwkit + "EcRamMO", window.substr(1),
       spec_of({"linear_step", 2.8214e-4, 1.1714, -0.8286, 0.1, 0.05, 0.05, 0.01, 2.0, 0},
               {{"gamma_up", 0.4152}, {"gamma_down", 0.7342}, {"gamma_spread", 0.05}, {"mean_bounds", 1}}),
       pulses_of},
      {"idealized", "idealised symmetric device with fine pulses",
       "Rasch, Gokmen and Haensch, IEEE Design & Test (2019), arXiv:1906.02698" + fitted_by_aihwkit + "Idealized",
       "A requirement, not a measured device." + window,
       spec_of({"constant_step", 0.0002, 1, -1, 0.3, 0.3, 0.3, 0, 0.3, 0})},
      {"gokmen_vlasov", "resistive processing unit specification",
       "Gokmen and Vlasov, Front. Neurosci. 10:333 (2016), doi:10.3389/fnins.2016.00333" + fitted_by_aihwkit +
           "GokmenVlasov",
       "A requirement, not a measured device. The sources disagree: dw_min 0.0016 gives 1250 pulses, the text of the "
       "fit says 1200; dw_min is used." +
           window,
       spec_of({"constant_step", 0.0016, 1, -1, 0.3, 0.3, 0.3, 0.01, 0.3, 0})},
      {"reram_array_om", "ReRAM array of an optimised material, soft bounds with reference",
       "Gong, Rasch et al., IEDM 2022 (IEEE 10019569)" + fitted_by_aihwkit + "ReRamArrayOM",
       "Measured: 13.48 % of the devices corrupt; off as in the source (set device.stuck_random = 0.1348). Compliance "
       "adjusted window; the raw fit is 1.4839/-0.6192 before its symmetry point is subtracted." +
           window,
       array_of({"soft_bounds_reference", 0.0949, 1, -1, 0, 0.3499, 0.5695, 0.01, 0.4158, 0, 1.4113}, 0.7829),
       writes_of},
      {"reram_array_hfo2", "baseline HfO2 ReRAM array, soft bounds with reference",
       "Gong, Rasch et al., IEDM 2022 (IEEE 10019569)" + fitted_by_aihwkit + "ReRamArrayHfO2",
       "Measured: 9.77 % of the devices corrupt; off as in the source (set device.stuck_random = 0.0977). Only 4.3 "
       "mean pulses across the window. The raw fit is 1.1490/-1.0284 before its symmetry point is subtracted." +
           window,
       array_of({"soft_bounds_reference", 0.4622, 1, -1, 0, 0.4295, 0.5990, 0.01, 0.2174, 0, 0.5841}, 0.7125),
       writes_of},
      {"pcm_pulsed", "Ge2Sb2Te5 phase-change memory under pulses, exponential step",
       "Nandakumar et al., Front. Neurosci. (2020)" + fitted_by_aihwkit + "PCM",
       "The device of the source only potentiates and is used as a pair with reset and refresh; here down pulses "
       "follow its down curve, without refresh. 200 nominal steps, of which roughly 50 are usable according to "
       "users of the source. Not modelled: state-dependent part of the update noise (0.042 + 0.108 w), reset. In "
       "the source w = 0 is the lower bound; here the reference is in the middle, with b shifted to match." +
           window,
       spec_of({"exponential_step", 0.01, 1, -1, 0.2, 0.2, 0, 0.05, 0.6, 0},
               {{"A_up", -27.235}, {"A_down", -2.235}, {"gamma_up", 2.5}, {"gamma_down", 2.5}, {"a", -1}, {"b", -1}}),
       pulses_of},
  };
}

namespace {

struct Synapse {
  double g_min_S, g_max_S;
  double states_up, states_down;
  double label_up, label_down;
  double cycle_noise;                         ///< standard deviation of one pulse, of the window
  WritePulse pulse_up = {}, pulse_down = {};  ///< across the device; not those of a gate
};

DeviceSpec spec_of(const Synapse& s) {
  DeviceSpec spec;
  spec.model = "label_curve";
  spec.g_min_S = s.g_min_S;
  spec.g_max_S = s.g_max_S;
  spec.pulses = s.states_up;
  spec.asymmetry = 1 - s.states_up / s.states_down;
  spec.update_noise = s.cycle_noise * s.states_up;
  spec.pulse_up = s.pulse_up;
  spec.pulse_down = s.pulse_down;
  spec.update = PulseMode::pulsed;
  spec.shape = {{"label_up", s.label_up}, {"label_down", s.label_down}};
  return spec;
}

const std::string table = "; as tabulated in Chen, Peng and Yu, IEEE TCAD 37:3067 (2018), Table I";
const std::string labels = " Labels as in the table, read with our convention (nudge devices show label_curve).";
const std::vector<Aspect> synapse_of = {Aspect::window, Aspect::curve, Aspect::update_noise, Aspect::pulse};
const std::string below = " Cycle-to-cycle noise is stated as below 1 %: 1 % is used.";

}  // namespace

std::vector<DevicePreset> synapse_presets() {
  return {
      {"ag_asi", "Ag:a-Si synapse", "Jo et al. (2010)" + table, "Pulses 3.2 V 300 us up, -2.8 V 300 us down." + labels,
       spec_of({3.0769e-9, 3.8462e-8, 97, 100, 2.4, -4.88, 0.035, {3.2, 300e-6}, {2.8, 300e-6}}), synapse_of},
      {"taox_tiox", "TaOx/TiO2 synapse", "NeuroSim" + table,
       "Window computed from 5 MOhm and an on/off ratio of 2. Pulses 3 V 40 ms up, -3 V 10 ms down. The sources "
       "disagree: labels 1.85/-1.79 here (TCAD), 0.66/-0.69 in the IEDM 2017 table, which uses another convention." +
           labels + below,
       spec_of({1e-7, 2e-7, 102, 102, 1.85, -1.79, 0.01, {3, 40e-3}, {3, 10e-3}}), synapse_of},
      {"pcmo", "PCMO synapse", "NeuroSim" + table,
       "Window computed from 23 MOhm and an on/off ratio of 6.84. Pulses -2 V 1 ms up, 2 V 1 ms down." + labels + below,
       spec_of({6.36e-9, 4.35e-8, 50, 50, 3.68, -6.76, 0.01, {2, 1e-3}, {2, 1e-3}}), synapse_of},
      {"alox_hfo2", "AlOx/HfO2 synapse", "Woo et al. (2016)" + table,
       "Pulses 0.9 V 100 us up, -1 V 100 us down." + labels,
       spec_of({1.3357e-5, 5.9172e-5, 40, 40, 1.94, -0.61, 0.05, {0.9, 100e-6}, {1, 100e-6}}), synapse_of},
      {"taox_hfox", "TaOx/HfOx synapse", "MELISO and NeuroSim device tables", "Pulses 1.6 V 50 ns." + labels,
       spec_of({1e-6, 1e-5, 128, 128, 0.04, -0.63, 0.037, {1.6, 50e-9}, {1.6, 50e-9}}), synapse_of},
      {"epiram", "EpiRAM, Ag in SiGe dislocations", "Choi et al., Nat. Mater. (2018), as tabulated in MELISO",
       "256 states in this table. Pulses 5 V 5 us up, -3 V 5 us down." + labels,
       spec_of({2.4593e-7, 1.2346e-5, 256, 256, 0.5, -0.5, 0.02, {5, 5e-6}, {3, 5e-6}}), synapse_of},
      {"hzo_fefet",
       "HZO ferroelectric transistor",
       "Jerry et al., IEDM 2017" + table,
       "Positive down label: the down curve starts slowly. Cycle-to-cycle noise is stated as below 0.5 %: 0.5 % is "
       "used. Pulses 3.65 V up, -2.95 V down on average, 75 ns, on the gate: not heat of the channel, not counted." +
           labels,
       spec_of({3.973e-8, 1.788e-6, 32, 32, 1.75, 1.46, 0.005}),
       {Aspect::window, Aspect::curve, Aspect::update_noise}},
      {"synapse_target", "target of the NeuroSim study", "NeuroSim" + table,
       "A requirement, not a measured device." + labels, spec_of({1e-7, 5e-6, 64, 64, 1, -1, 0.02})},
      {"synapse_ideal", "ideal synapse of the NeuroSim study", "NeuroSim" + table,
       "A limit, not a measured device. Pulses 2 V 10 ns." + labels,
       spec_of({1e-7, 5e-6, 64, 64, 0, 0, 0, {2, 10e-9}, {2, 10e-9}})},
      {"cell_3t1c",
       "capacitor cell of three transistors",
       "NeuroSim's default 3T1C cell",
       "100 fF, 6.67 uA, 500 ps. Not modelled: leak (set device.leak_time)." + labels,
       spec_of({4e-6, 2e-5, 32, 32, 0.2, -0.2, 0.005}),
       {}},
  };
}

}  // namespace nudge
