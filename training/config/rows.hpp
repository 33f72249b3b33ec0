// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"

// The parts of program_table(), by section, and the rules between keys.
namespace nudge {

ParamTable network_rows();       ///< network.kind
ParamTable device_rows();        ///< device.preset, device.*, crossbar.*
Condition devices_or_warning();  ///< a model of devices; `nudge crossbar` and `nudge test` read the keys without one
/// Condition that arrays have circuits at their edges. Where nodes hang on the lines of arrays themselves, some effects of a drop are
/// not modelled. They concern wires, curved devices, and the noise of their heat.
Condition with_edges();
ParamTable sweep_rows();    ///< sweep.*
ParamTable compare_rows();  ///< compare.*

/// Rule between keys. If `holds` is false, its first key gets the error `text`, "must be ...", in which {KEY} stands
/// for "KEY = VALUE".
ConfigRule must(std::vector<std::string> keys, const std::string& text, bool (*holds)(const Config&));

double initial_step(const Config& c);   ///< ε of the first step of training
bool is_sgd(const Config& c);           ///< train.optimizer = sgd
bool has_no_momentum(const Config& c);  ///< no momentum of a rule that can have one
bool has_no_decay(const Config& c);
bool has_no_mean(const Config& c);
bool has_no_clip(const Config& c);

std::vector<ConfigRule> program_rules();
std::vector<ConfigRule> kind_rules();     ///< requirements of networks and tasks on each other
std::vector<ConfigRule> network_rules();  ///< rules of hopfield.*, convolutional.* and netlist.*
std::vector<ConfigRule> motion_rules();   ///< rules of steps, masses, frames and swings
std::vector<ConfigRule> local_rules();    ///< rules of hardware.level = local

/// Throws UserError if a device cannot be made as described, or if its reads have fresh noise that the solver does not
/// follow.
void expect_sound_devices(const Config& config);

}  // namespace nudge
