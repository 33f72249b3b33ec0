// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/param_table.hpp"

namespace nudge {

/// docs/configuration.md: one Markdown table per section.
std::string describe_table(const ParamTable& table);

/// The same for a terminal: key, default, values and meaning.
std::string help_text(const ParamTable& table);

}  // namespace nudge
