// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

// The parts of program_table(), by section, and the rules between keys.
namespace nudge {

ParamTable network_rows();       ///< network.kind
ParamTable device_rows();        ///< device.preset, device.*, crossbar.*
Condition devices_or_warning();  ///< a model of devices; `nudge crossbar` and `nudge test` read the keys without one
ParamTable sweep_rows();         ///< sweep.*
ParamTable compare_rows();       ///< compare.*

std::vector<ConfigRule> kind_rules();         ///< what networks and tasks require of each other
std::vector<ConfigRule> netlist_rules();      ///< of network.kind = netlist
std::vector<ConfigRule> oscillation_rules();  ///< of nudge.form = oscillating
std::vector<ConfigRule> gradcheck_rules();    ///< of gradcheck.*
std::vector<ConfigRule> preset_rules();       ///< presets of devices over files that have some
std::vector<ConfigRule> motion_rules();       ///< steps that rounding does not take back
std::vector<ConfigRule> local_rules();        ///< of hardware.level = local
std::vector<ConfigRule> program_rules();
std::vector<ConfigRule> hopfield_rules();  ///< of these, those of hopfield.* and convolutional.*

/// UserError where a device cannot be made as it is described, or its reads have fresh noise that the solver does not follow.
void expect_sound_devices(const Config& config);

}  // namespace nudge
