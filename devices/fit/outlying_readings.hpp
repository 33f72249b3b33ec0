// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/long_table.hpp"
#include "devices/fit/pulse_rows.hpp"

namespace nudge {

/// Finds readings of pulsed devices that their neighbours contradict. The distance of a reading from the median of itself and the two
/// readings at either side is 0 on a ramp
/// that rises or falls. It holds noise, and steps at turns. Of a device's readings those are far whose
/// distance is above five times its 95 % quantile, and above five median steps. White noise of sd σ has a quantile of 1.99 σ, so that a
/// reading is far at 9.9 σ. Noise of heavy tails has one in 1700 (Student's t of 3 degrees). So a far reading is noted. It is refused where no device makes it: a reading of 0 S,
/// or one below a fifth of the others. So is one that lies further outside of the other readings' range than the range is wide. Ends of a record are refused above alone. Up to one reading in 20 may be so.
///
/// Up to 20 readings in a row are found by their steps. A step is far where none of the six that begin nearest to it, in its direction,
/// is like it. The limit is six times the 90 % quantile of such
/// distances, and a median step. Readings between a far step and one back are far, and so
/// are up to three at an end of a record. So the same state at every start is none, and neither is an abrupt device.
void check_outliers(const RowsOfRecords& rows, const std::string& file, std::vector<std::string>& notes);

/// Notes readings of cells whose change is further from the median of their group than 20 times the median distance: 13 σ of white
/// noise. The groups are levels at all times.
void note_outliers(const std::vector<GroupedReading>& readings, std::vector<std::string>& notes);

}  // namespace nudge
