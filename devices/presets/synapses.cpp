// SPDX-License-Identifier: Apache-2.0
// Analogue synapses as tabulated for NeuroSim: window, states, nonlinearity labels, cycle-to-cycle noise of the window.
#include "devices/presets.hpp"

namespace nudge {
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
const std::string below = " Cycle-to-cycle noise is stated as below 1 %: 1 % is used.";

}  // namespace

std::vector<DevicePreset> synapse_presets() {
  return {
      {"ag_asi", "Ag:a-Si synapse", "Jo et al. (2010)" + table, "Pulses 3.2 V 300 us up, -2.8 V 300 us down." + labels,
       spec_of({3.0769e-9, 3.8462e-8, 97, 100, 2.4, -4.88, 0.035, {3.2, 300e-6}, {2.8, 300e-6}})},
      {"taox_tiox", "TaOx/TiO2 synapse", "NeuroSim" + table,
       "Window computed from 5 MOhm and an on/off ratio of 2. Pulses 3 V 40 ms up, -3 V 10 ms down. The sources "
       "disagree: "
       "labels 1.85/-1.79 here (TCAD), 0.66/-0.69 in the IEDM 2017 table, which uses another convention." +
           labels + below,
       spec_of({1e-7, 2e-7, 102, 102, 1.85, -1.79, 0.01, {3, 40e-3}, {3, 10e-3}})},
      {"pcmo", "PCMO synapse", "NeuroSim" + table,
       "Window computed from 23 MOhm and an on/off ratio of 6.84. Pulses -2 V 1 ms up, 2 V 1 ms down." + labels + below,
       spec_of({6.36e-9, 4.35e-8, 50, 50, 3.68, -6.76, 0.01, {2, 1e-3}, {2, 1e-3}})},
      {"alox_hfo2", "AlOx/HfO2 synapse", "Woo et al. (2016)" + table,
       "Pulses 0.9 V 100 us up, -1 V 100 us down." + labels,
       spec_of({1.3357e-5, 5.9172e-5, 40, 40, 1.94, -0.61, 0.05, {0.9, 100e-6}, {1, 100e-6}})},
      {"taox_hfox", "TaOx/HfOx synapse", "MELISO and NeuroSim device tables", "Pulses 1.6 V 50 ns." + labels,
       spec_of({1e-6, 1e-5, 128, 128, 0.04, -0.63, 0.037, {1.6, 50e-9}, {1.6, 50e-9}})},
      {"epiram", "EpiRAM, Ag in SiGe dislocations", "Choi et al., Nat. Mater. (2018), as tabulated in MELISO",
       "256 states in this table. Pulses 5 V 5 us up, -3 V 5 us down." + labels,
       spec_of({2.4593e-7, 1.2346e-5, 256, 256, 0.5, -0.5, 0.02, {5, 5e-6}, {3, 5e-6}})},
      {"hzo_fefet", "HZO ferroelectric transistor", "Jerry et al., IEDM 2017" + table,
       "Positive down label: the down curve starts slowly. Cycle-to-cycle noise is stated as below 0.5 %: 0.5 % is "
       "used. "
       "Pulses 3.65 V up, -2.95 V down on average, 75 ns, on the gate: not heat of the channel, not counted." +
           labels,
       spec_of({3.973e-8, 1.788e-6, 32, 32, 1.75, 1.46, 0.005})},
      {"synapse_target", "target of the NeuroSim study", "NeuroSim" + table,
       "A requirement, not a measured device." + labels, spec_of({1e-7, 5e-6, 64, 64, 1, -1, 0.02})},
      {"synapse_ideal", "ideal synapse of the NeuroSim study", "NeuroSim" + table,
       "A limit, not a measured device. Pulses 2 V 10 ns." + labels,
       spec_of({1e-7, 5e-6, 64, 64, 0, 0, 0, {2, 10e-9}, {2, 10e-9}})},
      {"cell_3t1c", "capacitor cell of three transistors", "NeuroSim's default 3T1C cell",
       "100 fF, 6.67 uA, 500 ps. Not modelled: leak (set device.leak_time)." + labels,
       spec_of({4e-6, 2e-5, 32, 32, 0.2, -0.2, 0.005})},
  };
}

}  // namespace nudge
