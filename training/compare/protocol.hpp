// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/config/entrants.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// What a comparison goes by.
struct CompareProtocol {
  Config base;
  std::vector<GridAxis> axes;
  std::vector<Entrant> entrants;
  std::vector<std::int64_t> tuning_seeds, test_seeds;
  std::vector<Combination> combinations;

  /// Whether there is anything to choose from.
  bool tunes() const { return combinations.size() > 1; }
};

/// compare.* of a config. UserError that starts with `name`: no grid, entrants or seeds, or no test part.
CompareProtocol read_protocol(const Config& config, const std::string& name);

/// A table of runs without points: its columns are the entrant and the tuned keys; `tests` adds the metrics of the test part.
enum class CompareStage { tuning, tests };
Sweep empty_table(const CompareProtocol& protocol, CompareStage stage);

}  // namespace nudge
