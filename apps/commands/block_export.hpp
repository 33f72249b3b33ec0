// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "sim/config/config.hpp"

namespace nudge {

/// Writes the configured block as an ngspice transient (circuits/spice/block_netlist.hpp): programmed weights, the drive of
/// the text's first tokens, discharged nodes, 20 τ. ngspice writes the node voltages to `path` with ".data" appended.
/// A resistive network is written as its operating point on the first training sample, with a line on stderr about Kirchhoff's law
/// (training/models/resistive/resistive_export.hpp).
/// UserError for a model that is too large or has other parts than fused attention and a memory on one array.
void export_block(const Config& config, const std::filesystem::path& path);

}  // namespace nudge
