// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config_load.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// Whose physics a run on devices has.
enum class HardwareLevel {
  ideal,     ///< what the keys of device, crossbar and circuit say, and nothing else
  physical,  ///< node and amplifier noise, finite bandwidth, mismatch and whole pulses, unless a key says otherwise
};

struct HardwareOptions {
  HardwareLevel level = {};
};
const Section<HardwareOptions>& hardware_section();

/// The values of hardware.level = physical for what a config asks for, as TOML; empty for digital matrices and hardware.level = ideal.
/// They stand between the defaults and what presets, file and settings say, and leave out what the kind of network has no place for.
std::string physical_values(const Config& asked);

/// What a config on devices has that the level physical would not have, each as "key = value": what stands in the heading of what used
/// it. {"hardware.level = ideal"} where that was asked for; empty for digital matrices.
std::vector<std::string> ideal_parts(const Config& config);

/// A physical circuit relaxes in its own time.
ConfigRule physical_solver();

}  // namespace nudge
