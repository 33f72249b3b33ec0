// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/presets.hpp"

namespace nudge {

std::vector<DevicePreset> pulsed_presets();  ///< pulse statistics, normalised windows (aihwkit's fits)
std::vector<DevicePreset> pcm_presets();     ///< phase-change memory: programming, drift, 1/f
std::vector<DevicePreset>
resistive_presets();                          ///< RRAM and charge-trap memories: programming error over state and time
std::vector<DevicePreset> synapse_presets();  ///< analogue synapses with nonlinearity labels (NeuroSim's table)

namespace preset {
inline const std::string own_pulses = " The source describes programming, not pulses: pulse numbers are our defaults.";
}  // namespace preset

}  // namespace nudge
