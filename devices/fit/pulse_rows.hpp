// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/fit/pulse_csv.hpp"

namespace nudge {

enum PulseColumn : std::size_t { pulse_at, direction_at, device_at, cycle_at, voltage_at, width_at, pulse_time_at };

/// Columns that a table of pulses may have.
std::vector<LongColumn> pulse_columns();

/// Direction without its decimals ("1.0"); empty where there is none: NaN, "start".
std::string plain_direction(const std::string& cell);

/// Columns of a file of pulses, and the voltage at which its currents were read.
struct PulseColumns {
  FoundColumns found;
  ConductanceColumns read;
  double read_voltage_V = 0;
  bool zero_is_down = false;  ///< directions are written as 1 and 0

  /// Cell of a column; empty where the file has none.
  std::string cell(const CsvRow& row, std::size_t column) const {
    if (!found.has(column)) return "";
    const std::string& own = row.cells[found.place[column]];
    if (column != direction_at) return own;
    const std::string plain = plain_direction(own);
    return zero_is_down && plain == "0" ? "down" : plain;
  }
  /// Direction of a row that may begin a record; empty: none, or 0 beside +1 and -1.
  std::string start_direction(const CsvRow& row) const {
    const std::string own = cell(row, direction_at);
    return own == "0" ? "" : own;
  }
  /// True where there is no reading, or the instrument's overflow.
  bool is_missing(const CsvRow& row) const { return is_missing_reading(cell(row, reading())); }
  /// Column that tells the conductances.
  std::size_t reading() const {
    return found.has(read.conductance) ? read.conductance : found.has(read.resistance) ? read.resistance : read.current;
  }
  double number(const CsvRow& row, std::size_t column, Unit of, const char* name, const std::string& where) const {
    return cell_number(cell(row, column), found.unit[column], of, name, where);
  }
  double conductance_S(const CsvRow& row, const std::string& where) const;
};

/// Finds the columns of a table of pulses.
PulseColumns pulse_columns_of(MeasuredText& text, const CsvScale& scale, TableLook& look);

/// Records of a table, and the lines of their rows.
struct RowsOfRecords {
  std::vector<LabRecord> records = {};
  std::vector<std::vector<int>> lines = {};
  std::vector<bool> broken = {};  ///< begins or ends at a missing reading
};

/// Record that rows of a device and cycle are added to.
struct OpenRecord {
  std::size_t at = 0;
  long long first = 0, last = 0;                    ///< pulse numbers
  bool ended = false;                               ///< the last reading is missing: the next one begins a record
  std::optional<double> pulse_s = {}, read_s = {};  ///< times of its last pulse and of its last reading that have one
};

/// Sorter of the rows of a table into records. A row whose direction is `wait` is a read without a pulse. It belongs to the record before it,
/// and the next pulse begins another record at what was read.
class RecordSorter {
 public:
  RecordSorter(const PulseColumns& columns, Understood& said) : columns_(columns), said_(said) {}

  void add(const CsvRow& row, const std::string& where);
  RowsOfRecords done();

 private:
  std::size_t begin(LabRecord record);
  OpenRecord& open_record(const CsvRow& row, long long pulse, const std::string& where);
  bool may_restart(const PulseRecord& record, const CsvRow& row, const std::string& where) const;
  bool is_wait(const CsvRow& row) const;
  bool goes_on(const OpenRecord& open, long long pulse, const CsvRow& row, const std::string& where) const;
  void add_wait(const CsvRow& row, OpenRecord& open, const std::string& where);
  void go_on_after_wait(OpenRecord& open, int line);
  double seconds(const CsvRow& row, const std::string& where) const;
  void add_pause(const CsvRow& row, OpenRecord& open, const std::string& where);

  const PulseColumns& columns_;
  Understood& said_;
  RowsOfRecords out_;
  std::map<std::pair<std::string, std::string>, OpenRecord> open_;
  std::map<std::string, int> restarts_of_;
  int restarts_ = 0, turns_ = 0, unpulsed_ = 0;  ///< counts anew of records, at turns; rows of 0 V
  std::string back_in_time_ = {};  ///< place of the first pulse whose time is before the reading before it
};

}  // namespace nudge
