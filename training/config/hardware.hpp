// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Physics that a run on devices has by default.
enum class HardwareLevel {
  ideal,  ///< the physics that keys of device, crossbar and circuit name, no other
  mixed,  ///< node and amplifier noise, finite bandwidth, mismatch and whole pulses, unless a key says otherwise;
          ///< learning is digital
  local,  ///< as mixed, and circuits learn too: multipliers, capacitors and pulses at every weight
};

struct HardwareOptions {
  HardwareLevel level = {};
  std::string amplifier;  ///< name of the amplifier at the sensed lines (find_amplifier); none: an ideal one
};
const Section<HardwareOptions>& hardware_section();

/// Values that hardware.level sets for a config, as TOML. Empty for digital matrices and hardware.level = ideal. They stand between
/// the defaults and presets, file and settings. Values for which the kind of network has no place are left out.
std::string level_values(const Config& asked);

/// True of a key that some level, or the amplifier, may set on devices.
bool level_may_set(const std::string& key);

/// Keys whose values circuit.amplifier sets.
std::vector<std::string> amplifier_keys();

/// Warning that device.pulses is not what the tables of a memristor make of its volts and widths, by more than a factor of 2; empty: none.
std::string stale_pulses(const Config& config);

/// Warning text where a gain-bandwidth that was set makes no pole, since sweeps have no time; else empty.
std::string power_alone(const Config& config);

/// Deviations of a config on devices from its level, each as "key = value". They stand in the heading of every result.
/// {"hardware.level = ideal"} if that was asked for; empty for digital matrices.
std::vector<std::string> ideal_parts(const Config& config);

/// True if pulse trains on rows and columns multiply at the devices: crossbar.update = coincidence, or a rule of several arrays.
bool pulses_multiply(const Config& config);

/// True if the config learns at hardware.level = local.
bool is_local(const Config& config);

}  // namespace nudge
