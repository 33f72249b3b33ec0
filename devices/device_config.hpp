// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devices/device_spec.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// The section [device], made from the registry. It has device.model ("digital" or a registered model), device.update,
/// the parameters of every model (device.g_min, ...), and one model's parameters as device.<model>.<parameter>.
ParamTable device_param_rows();

/// True if a configuration asks for devices; otherwise weights are numbers.
bool on_devices(const Config& config);

/// Condition on_devices() of device.model, for keys that only devices read.
Condition with_devices();

/// Device of a configuration over a table that holds device_param_rows(). For "digital" only `model` is meaningful.
DeviceSpec device_spec(const Config& config);

/// Device as TOML text for a config file, [device] and [device.<model>]: values that differ from the defaults.
std::string device_toml(const DeviceSpec& spec);

/// A published device as TOML text for the preset layer of a configuration: [device] and [device.<model>].
std::string device_preset_toml(const std::string& name);

/// Row of device.preset, and its text as a preset of a schema (ConfigSchema::presets): empty for an unknown name, which the row reports.
ParamRow device_preset_row();
PresetKey device_preset_key();

/// All device models and presets, one line each (`nudge devices list`).
std::string device_list_text();

/// List of models and presets as JSON: {"models": [{"name", "summary"}, ...], "presets": [{"name", "model", "summary"}, ...]}
std::string device_list_json();

/// Text of one model or preset in full (`nudge devices show NAME`): equation, parameter table (unit, range, value or
/// default, source), limits, omissions, citation. UserError with the closest names if it is neither.
std::string device_show_text(const std::string& name);

/// JSON text of one model or preset in full: {"name", "kind": "model" | "preset", ..., "parameters": [{"name", "unit",
/// "range", "value", "default", "doc", "source"}, ...]}.
std::string device_show_json(const std::string& name);

}  // namespace nudge
