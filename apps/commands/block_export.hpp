// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "sim/config/config.hpp"

namespace nudge {

/// Writes the configured network for ngspice, as its kind does (NetworkKind::netlist), with programmed weights, for the first example
/// of the first training batch; what the kind says about it goes to stderr. ngspice writes the state to `path` with ".data"
/// appended. UserError for a kind that has no netlist, a network that is too large, or parts that are not exported.
void export_block(const Config& config, const std::filesystem::path& path);

}  // namespace nudge
