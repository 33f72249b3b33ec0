// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

// The parts of program_table(), by section, and the rules between keys.
namespace nudge {

ParamTable network_rows();  ///< network.kind
ParamTable device_rows();   ///< device.preset, device.*, crossbar.*
ParamTable sweep_rows();    ///< sweep.*
ParamTable compare_rows();  ///< compare.*

std::vector<ConfigRule> kind_rules();         ///< what networks and tasks require of each other
std::vector<ConfigRule> resistive_rules();    ///< of network.kind = resistive
std::vector<ConfigRule> netlist_rules();      ///< of network.kind = netlist
std::vector<ConfigRule> thermal_rules();      ///< of relaxation.solver = sample
std::vector<ConfigRule> oscillation_rules();  ///< of nudge.form = oscillating
std::vector<ConfigRule> preset_rules();       ///< presets of devices over files that have some
std::vector<ConfigRule> motion_rules();       ///< steps that rounding does not take back
std::vector<ConfigRule> local_rules();        ///< of hardware.level = local
std::vector<ConfigRule> program_rules();
std::vector<ConfigRule> hopfield_rules();  ///< of these, those of hopfield.* and convolutional.*

/// The keys of [device], [crossbar] and [cost] that were set, or that a sweep or comparison varies, and that a training does not read:
/// device.model is digital, so that there are no devices. They are not refused, since `nudge crossbar` and `nudge test` read them. Nothing where
/// an axis or an entrant chooses another model or preset.
std::vector<std::string> idle_device_keys(const Config& config);

/// UserError where a device cannot be made as it is described, or relaxation.solver = coordinate meets reads with fresh noise.
void expect_sound_devices(const Config& config);

}  // namespace nudge
