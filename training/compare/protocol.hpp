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
  /// Of each entrant, the combinations of the grid that are runs of their own: keys that it does not read are left out.
  std::vector<std::vector<Combination>> combinations;

  /// Whether there is anything to choose from.
  bool tunes() const;
  /// Runs of the tuning, of all entrants with all tuning seeds; 0: nothing is tuned.
  std::size_t tuning_runs() const;
};

/// compare.* of a config. UserError that starts with `name`: no grid, entrants or seeds, no test part, or a key of the grid that no entrant reads.
CompareProtocol read_protocol(const Config& config, const std::string& name);

/// The source of a comparison: of samples, data.split_seed = "seed" comes before its own settings, unless the file or one of them names
/// the key. So every seed has parts of its own, the same for all entrants.
ConfigSource compare_source(const ConfigSource& source);

/// What the interval of a paired difference holds, a sentence: seeds, and parts of the samples where they are drawn from the seed.
std::string intervals_hold(const Config& config);

/// A table of runs without points: its columns are the entrant and the tuned keys; `tests` adds the metrics of the test part.
enum class CompareStage { tuning, tests };
Sweep empty_table(const CompareProtocol& protocol, CompareStage stage);

}  // namespace nudge
