// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Whose physics a run on devices has.
enum class HardwareLevel {
  ideal,  ///< what the keys of device, crossbar and circuit say, and nothing else
  mixed,  ///< node and amplifier noise, finite bandwidth, mismatch and whole pulses, unless a key says otherwise; what learns is digital
  local,  ///< the same, and what learns are circuits too: multipliers, capacitors and pulses at every weight
};

struct HardwareOptions {
  HardwareLevel level = {};
  std::string amplifier;  ///< name of the amplifier at the sensed lines (find_amplifier); none: an ideal one
};
const Section<HardwareOptions>& hardware_section();

/// The values of hardware.level for what a config asks for, as TOML; empty for digital matrices and hardware.level = ideal.
/// They stand between the defaults and what presets, file and settings say, and leave out what the kind of network has no place for.
std::string level_values(const Config& asked);

/// Keys that circuit.amplifier gives their values.
std::vector<std::string> amplifier_keys();

/// What a config on devices has that its level would not have, each as "key = value": what stands in the heading of what used
/// it. {"hardware.level = ideal"} where that was asked for; empty for digital matrices.
std::vector<std::string> ideal_parts(const Config& config);

/// Whether pulse trains on rows and columns multiply at the devices: of crossbar.update = coincidence, or of a rule of several arrays.
bool pulses_multiply(const Config& config);

/// Whether it learns at hardware.level = local.
bool is_local(const Config& config);

}  // namespace nudge
