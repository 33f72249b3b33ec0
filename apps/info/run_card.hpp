// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "training/card/cost_card.hpp"

namespace nudge {

/// Makes the card of the run's own network. UserError, naming the file, for a run without arrays.
CostCard run_card(const Config& config, const report::RunFile& run);

/// Reads a run file (kind "train"); `settings` as after --set: keys of [chip]. UserError naming the file.
CostCard read_run_card(const std::filesystem::path& path, const std::vector<std::string>& settings);

}  // namespace nudge
