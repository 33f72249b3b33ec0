// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// Successive reads of one cell, an interval apart.
struct ReadRecord {
  double level = 0;  ///< what was programmed, as the table names it; the cell's number without a level
  double interval_s = 0;
  std::vector<double> conductance_S = {};
  std::string where = {};  ///< file:line of its beginning
};

/// Reads per second of the tables without a header that RRAM-Relaxation-Master-Model publishes (its settings.json: fs).
inline constexpr double published_rate_Hz = 400;

/// Records of successive reads, at least 256 each. Either a table of long_table.hpp with columns time and conductance and, as far
/// as there, cell and level; or, without a header, a row per cell: its level, an offset, and its reads in siemens (as
/// RRAM-Relaxation-Master-Model publishes them), `rate_Hz` of them per second (0: published_rate_Hz). Rates and offsets of times are those of the
/// table: rate_Hz with a column time is refused. UserError with file:line also for times that do not rise or leave gaps of more than
/// 1.5 intervals, and for reads that are all the same.
std::vector<ReadRecord> parse_read_records(std::string_view text, const std::string& file, double rate_Hz);

}  // namespace nudge
