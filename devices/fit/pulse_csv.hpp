// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "devices/fit/long_table.hpp"
#include "devices/registry.hpp"

namespace nudge {

/// Reading of a device that nobody has pulsed for a while.
struct TimedReading {
  double since_pulse_s = 0, conductance_S = 0;
};

/// Measured pulses of one device: conductance_S[0] before the first pulse, conductance_S[i] after pulse i of direction[i].
/// direction[0] has no meaning.
struct PulseRecord {
  std::vector<double> conductance_S;
  std::vector<Direction> direction;
  std::vector<double> volts = {}, width_s = {};  ///< of pulse i, volts negative downwards; empty: unknown
  std::vector<double> pause_s = {};              ///< from the reading before pulse i to the pulse; empty: none
  std::vector<TimedReading> waits = {};          ///< what was read after the last pulse
  bool goes_on = false;                          ///< begins with the last reading of the device's record before it
  std::size_t pulses() const { return conductance_S.empty() ? 0 : conductance_S.size() - 1; }
  /// Readings after a pulse or a wait.
  std::size_t reads() const { return pulses() + waits.size(); }
  double pause(std::size_t i) const { return pause_s.empty() ? 0 : pause_s[i]; }
};

/// Record of one device in one cycle; names are as in the file, empty where it has no such column.
struct LabRecord {
  std::string device, cycle;
  PulseRecord pulses;
};

/// Scale of the numbers of a file that has no units.
struct CsvScale {
  double low_S = 0, high_S = 0;  ///< conductances of the smallest and the largest number; 0, 0: the numbers are siemens
  double read_voltage_V = 0;     ///< voltage at which the numbers are currents; 0: they are no currents
};

/// Throws UserError if the records of a device have fewer than 4 pulses, or one pulse of a direction, or one has none.
void check_records(const std::vector<LabRecord>& records, const std::string& name);

/// Reads a table of measured_text.hpp with the columns pulse, conductance and direction and, for several records, device and
/// cycle, found by find_columns(). Rows of one device and cycle belong together, in the order of the file. pulse counts up by
/// one within a record. A conductance may have its unit in the cell ("12.5 uS"). It may stand as a resistance, or as a current with
/// its read voltage. The pulse before the value has the direction up or down (+1, -1). voltage and width, which go together, tell
/// its amplitude, whose sign may stand for the direction.
///
/// A device's records may have one direction alone. A count of pulses that begins anew is a new record where there is no column
/// cycle, or in the other direction. Without directions and voltages a record that goes one way has pulses of that way. A
/// missing reading (an instrument's overflow) ends a record; the next reading begins another. A row whose direction is `wait` (or `read`) is a
/// read without a pulse, some time after it. With the column time it goes into PulseRecord::waits, and the pulses behind it
/// are a new record, which goes on from it. Then the times of pulses are their pauses.
///
/// UserError with name:line for what find_columns() or check_records() refuses, a gap or step back of the pulse number, and an
/// unknown direction. Numbers must be finite, and conductances from 0 to 0.1 S: beyond it the unit is missing. A file of columns up and down is read by parse_up_down_csv; only there the scale may have a
/// window. `look` takes what was read, and what looks odd: a first pulse behind a turn that is three times the next five.
std::vector<LabRecord> parse_lab_csv(std::string_view text, const std::string& name, const CsvScale& scale = {},
                                     TableLook* look = nullptr);

/// Reads records as parse_lab_csv() does, without check_records(): a device may go on in another file.
std::vector<LabRecord> parse_lab_rows(std::string_view text, const std::string& name, const CsvScale& scale,
                                      TableLook& look);

/// True if a file has the columns of parse_lab_csv() by name: a reading and another.
bool is_pulse_csv(std::string_view text, const std::string& name);

/// Reads measured pulses as parse_lab_csv() does, from a file; UserError if it cannot be read.
std::vector<LabRecord> read_lab_csv(const std::string& path, const CsvScale& scale = {});

/// True if a file has the two columns of IBM aihwkit's example 21 (fit device data), one row per pulse. They hold conductances after
/// successive pulses up, and after successive pulses down that follow them. There is no header, or one of the names up,down,
/// up_data,down_data, LTP,LTD and potentiation,depression, to which a unit may be added (up_uS,down_uS), behind a count of
/// pulses or not. The first value is the conductance before the first known pulse. A column may end before the other (empty
/// cells).
bool is_up_down_csv(const MeasuredText& text);

/// Reads a two-column file (is_up_down_csv()) as one record. Numbers are siemens or have a unit. With a window they have none and may be
/// negative; then the smallest and largest of the file stand for its ends (aihwkit's own files hold weights in [-1, 1]). UserError with
/// name:line for another number of cells or a value after an empty cell. Numbers must be finite, ≥ 0 and no wire's. UserError
/// also for a first column without a name that counts pulses, and for one that holds steps (up_pulse,down_pulse).
std::vector<LabRecord> parse_up_down_csv(const MeasuredText& text, const CsvScale& scale);

/// Reads CrossSim's set.csv and reset.csv: a column per run, the first row may name them; the values are the currents after
/// successive pulses, read at scale.read_voltage_V. Run k of the second file, which falls, follows run k of the first, which
/// rises: together they are cycle k of one device. Columns may end before others (empty cells). UserError as
/// parse_up_down_csv(), also without a read voltage, for different numbers of runs, or for a run that goes the other way.
std::vector<LabRecord> parse_set_reset_csv(std::string_view set, const std::string& set_name, std::string_view reset,
                                           const std::string& reset_name, const CsvScale& scale);

/// Reads one file of any kind that parse_lab_csv() knows, two of is_pulse_csv() (LTP and LTD of the same devices), or CrossSim's
/// two. UserError for options that the files have no use for.
std::vector<LabRecord> read_lab_files(const std::vector<std::string>& paths, const CsvScale& scale,
                                      TableLook* look = nullptr);

}  // namespace nudge
