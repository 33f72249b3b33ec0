// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nudge {

/// All device models and presets, one line each (`nudge devices list`).
std::string device_list_text();

/// {"models": [{"name", "summary"}, ...], "presets": [{"name", "model", "summary"}, ...]}
std::string device_list_json();

/// One model or preset in full: equation, parameter table (unit, range, value or default, source), limits, what is not
/// modelled, citation (`nudge devices show NAME`). UserError with the closest names when it is neither.
std::string device_show_text(const std::string& name);

/// The same as JSON: {"name", "kind": "model" | "preset", ..., "parameters": [{"name", "unit", "range", "value",
/// "default", "doc", "source"}, ...]}.
std::string device_show_json(const std::string& name);

}  // namespace nudge
