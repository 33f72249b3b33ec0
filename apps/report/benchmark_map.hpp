// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/sections.hpp"
#include "training/benchmark/entry.hpp"

namespace nudge::report {

/// Ranking of devices as a picture: a row per device in the order of the ranking, with the interval of its rank, its
/// score, and a shaded cell per update rule. A cell whose interval contains 0 is hollow; a dash: no share is known.
struct BenchmarkMap {
  std::vector<RankedEntry> ranked;
  std::vector<std::string> own;  ///< devices whose names stand out
};

/// Opening of a page about the devices in `own`, with the picture as its figure, and a body that says why scores and
/// cells are missing.
Section benchmark_section(const BenchmarkMap& map);

/// The picture as an SVG document of its own.
std::string benchmark_svg(const BenchmarkMap& map);

/// Score as text: "0.91 [0.86, 0.96]", "0.91, no interval" where the ends are infinite, or "no score: reason".
std::string share_text(const Share& share);
/// Rank as text: "3 of 20, 95 % interval 2 to 5"; empty without one.
std::string rank_text(const RankRange& rank);

}  // namespace nudge::report
