// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/long_table.hpp"

namespace nudge {

/// Conductance of one cell that is only read: after how long under the read voltage, ascending.
struct ReadCell {
  std::vector<double> read_s, conductance_S;
};

/// Number of a fit with the ends of its 95 % interval; NaN: the table leaves that end open.
struct DisturbNumber {
  double value = 0;
  double low = std::numeric_limits<double>::quiet_NaN(), high = std::numeric_limits<double>::quiet_NaN();
  bool closes() const { return low == low && high == high; }
};

/// Read disturb of cells: the time and the target of device.read_disturb_time and read_disturb_target.
struct DisturbFit {
  std::size_t cells = 0, reads = 0;
  double longest_s = 0;            ///< longest time under the read voltage
  DisturbNumber time_s, target_S;  ///< T_r and g_r
  double rms_S = 0,
         rms_still_S = 0;  ///< distance of the readings from the law, and from cells that keep their conductance
  double correlation = 0;  ///< of the errors from one reading of a cell to its next
  bool shows = false;      ///< the law is better than no disturb by Akaike's criterion, and T_r has both ends
};

/// Reads a table with the columns reads (how often a cell was read before) or time (under the read voltage), a reading, and for
/// several cells, cell. read_time_s: how long one read lasts; 0: not known. UserError with file:line as parse_long_table(). A count without read_time_s is
/// refused, and so are fewer than 4 readings of a cell and counts that do not rise.
std::vector<ReadCell> parse_reads(std::string_view text, const std::string& file, double read_time_s, TableLook& look);

/// Fits the law of read disturb (devices/slow/drift.hpp) to cells, each from a start of its own:
///
///     g(t) = g_r + (g_0 − g_r) exp(−t/T_r)
///
/// Least squares over the starts and g_r, which are linear, at each T_r; T_r goes from a hundredth of the shortest time to a
/// thousand times the longest. An interval holds what leaves squares within the F quantile of the least over all other numbers.
/// It is right for white noise of reads: `correlation` tells where errors are not.
DisturbFit fit_disturb(const std::vector<ReadCell>& cells);

/// Fit as a table for people, and as TOML. The place of g_r needs the device's window: 0, 0 leaves the section out.
std::string disturb_text(const DisturbFit& fit);
std::string disturb_toml(const DisturbFit& fit, const std::string& source, double g_min_S, double g_max_S);

}  // namespace nudge
