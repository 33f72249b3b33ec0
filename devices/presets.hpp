// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"

namespace nudge {

/// Published device: the numbers of a paper as a DeviceSpec, and what the spec leaves out.
struct DevicePreset {
  std::string name;
  std::string summary;
  std::string citation;  ///< source of the data, and of the fit
  std::string note;      ///< choices of ours, effects of the source that are not modelled
  DeviceSpec spec;
};

const std::vector<DevicePreset>& device_presets();

/// Preset of that name; UserError with the closest names otherwise.
const DevicePreset& device_preset(const std::string& name);

std::vector<DevicePreset> pulsed_presets();  ///< pulse statistics, normalised windows (aihwkit's fits)
std::vector<DevicePreset> pcm_presets();     ///< phase-change memory: programming, drift, 1/f
std::vector<DevicePreset>
resistive_presets();                          ///< RRAM and charge-trap memories: programming error over state and time
std::vector<DevicePreset> synapse_presets();  ///< analogue synapses with nonlinearity labels (NeuroSim's table)

namespace preset {
inline const std::string own_pulses = " The source describes programming, not pulses: pulse numbers are our defaults.";
}  // namespace preset

}  // namespace nudge
