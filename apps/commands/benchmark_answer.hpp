// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/report/benchmark_map.hpp"
#include "training/benchmark/entry.hpp"

namespace nudge {

/// Result of nudge benchmark.
struct BenchmarkAnswer {
  std::vector<BenchmarkEntry> own;  ///< devices that were run
  std::vector<RankedEntry> ranked;  ///< they and the known ones
  std::string folder;               ///< folder of the files; empty: nothing was run
};

/// Tables of the own devices, one row per network and rule, and the ranking.
std::string answer_text(const BenchmarkAnswer& answer);

/// {"devices": [{"device", "score", "interval", "rank", "rank_interval", "of", "reason", "networks"}], "ranking": …,
/// "folder"}. With one device its values stand at the top too.
nlohmann::json answer_json(const BenchmarkAnswer& answer);

}  // namespace nudge
