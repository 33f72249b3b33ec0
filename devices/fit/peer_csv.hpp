// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// The two columns of IBM aihwkit's example 21 (fit device data): conductances after successive pulses up, and after successive
/// pulses down that follow them, one row per pulse, without a header or with one of the names up,down and up_data,down_data, to
/// which a unit may be added (up_uS,down_uS). The first value is the conductance before the first pulse that is known. A column
/// may end before the other (empty cells). Whether a file is one of these:
bool is_up_down_csv(const std::vector<CsvRow>& rows);

/// One record of such a file. Numbers are siemens or have a unit; with a window they have none, may be negative, and the smallest
/// and largest of the file stand for its ends (aihwkit's own files hold weights in [-1, 1]). UserError with name:line for another
/// number of cells, a value after an empty cell, a number that is not finite, negative or that of a wire, a first column that
/// counts pulses, one that holds steps (up_pulse,down_pulse), or fewer than 4 pulses or 2 of one direction.
std::vector<LabRecord> parse_up_down_csv(const std::vector<CsvRow>& rows, const std::string& name,
                                         const CsvScale& scale);

/// CrossSim's set.csv and reset.csv: a column per run, the first row may name them; the values are the currents after successive
/// pulses, read at scale.read_voltage_V. Run k of the second file, which falls, follows run k of the first, which rises: together
/// they are cycle k of one device. Columns may end before others (empty cells). UserError as above, without a read voltage, for
/// different numbers of runs, or for a run that goes the other way.
std::vector<LabRecord> parse_set_reset_csv(std::string_view set, const std::string& set_name, std::string_view reset,
                                           const std::string& reset_name, const CsvScale& scale);

/// One file of any kind that parse_lab_csv knows, or CrossSim's two. UserError for options that the files have no use for.
std::vector<LabRecord> read_lab_files(const std::vector<std::string>& paths, const CsvScale& scale);

}  // namespace nudge
