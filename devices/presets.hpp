// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/device_spec.hpp"

namespace nudge {

/// Property of a device that a source may have measured.
enum class Aspect {
  window,        ///< conductances in siemens
  curve,         ///< conductance over the number of pulses
  spread,        ///< from device to device
  update_noise,  ///< from pulse to pulse
  programming,   ///< error of a programmed or written conductance
  read_noise,    ///< from read to read
  slow_noise,    ///< 1/f and telegraph noise
  retention,     ///< drift, decay or relaxation over time
  pulse,         ///< volts and seconds of a pulse
  iv,            ///< current over voltage
  endurance,     ///< pulses or cycles that a device lasts
  temperature,   ///< any of these over temperature
};
inline constexpr int aspects = 12;

/// Words of an aspect: "curve over pulses".
std::string aspect_words(Aspect aspect);

/// Measured record behind a preset that ships with the program, and how far the preset is from it.
struct PresetRecord {
  std::string file;     ///< in devices/records
  std::string what;     ///< what was measured, and how often
  std::string origin;   ///< who published the file, and when
  std::string licence;  ///< of the file
  double rms_up = 0;  ///< the mean device of the preset sent the same pulses, root mean square distance, of the window
  double rms_down = 0;
};

/// Published device: the numbers of a paper as a DeviceSpec, and what the spec leaves out.
struct DevicePreset {
  std::string name;
  std::string summary;
  std::string citation;  ///< source of the data, and of the fit
  std::string note;      ///< choices of ours, effects of the source that are not modelled
  DeviceSpec spec;
  std::vector<Aspect> measured = {};        ///< what the source measured and the spec has; none: a requirement
  std::optional<PresetRecord> record = {};  ///< none: no record may be shipped

  /// Aspects that are not measured, in their order.
  std::vector<Aspect> not_measured() const;
};

/// Text of a list of aspects: "window in siemens, read noise"; "nothing" for none.
std::string aspects_text(const std::vector<Aspect>& list);

const std::vector<DevicePreset>& device_presets();

/// Preset of that name; UserError with the closest names otherwise.
const DevicePreset& device_preset(const std::string& name);

std::vector<DevicePreset> pulsed_presets();  ///< pulse statistics, normalised windows (aihwkit's fits)
std::vector<DevicePreset> pcm_presets();     ///< phase-change memory: programming, drift, 1/f
std::vector<DevicePreset>
resistive_presets();                          ///< RRAM and charge-trap memories: programming error over state and time
std::vector<DevicePreset> synapse_presets();  ///< analogue synapses with nonlinearity labels (NeuroSim's table)
std::vector<DevicePreset> learner_presets();  ///< devices whose arrays have learnt on the chip

namespace preset {
inline const std::string own_pulses = " The source describes programming, not pulses: pulse numbers are our defaults.";
}  // namespace preset

}  // namespace nudge
