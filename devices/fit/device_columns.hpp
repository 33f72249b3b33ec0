// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "devices/fit/long_table.hpp"

namespace nudge {

/// True of names that tell devices apart, alone or with others: row, WL, X, die, pad, sample, ID, device no., ...
bool tells_devices(const std::string& name);

/// True of names of the line of a cell in an array: row, WL, word line; column, BL, bit line.
bool names_row(const std::string& name);
bool names_column(const std::string& name);

/// True of a column of words for the directions of pulses, both of them: "LTP" and "LTD", "P" and "D", "LTP1" and "LTD1".
bool holds_directions(const MeasuredText& text, std::size_t c);

/// True of a column whose cells are all words of a known one.
bool holds_words(const MeasuredText& text, std::size_t c, const LongColumn& column);

/// True of whole numbers, each of which stands in four rows or more: what counts lines or devices.
bool holds_few_whole_numbers(const MeasuredText& text, std::size_t c);

/// Columns of readings, a block for each device, cycle, direction or time.
struct ColumnEach {
  std::vector<std::string> readings = {};  ///< "conductance", "r_on", "pulse"; a block has a column for each
  std::vector<std::string> units = {};     ///< of the readings
  std::vector<ColumnBlock> blocks = {};    ///< two or more; none: the table has no such columns
  std::vector<std::string> tells = {};     ///< what their tags tell: "device", "cycle", "direction"; "time", in seconds

  bool is(const char* meaning) const { return std::find(tells.begin(), tells.end(), meaning) != tells.end(); }
};

/// Columns neither taken nor left aside whose names differ by what their labels tell (labels_of()). Examples:
///     dev1 (uS), dev2 (uS)       cycle 1 (kOhm), ...                   D1 (uS), ...       Device A (uS), Cell 3b (uS), ...
///     G_LTP (uS), G_LTD (uS)     LRS_D1 (kOhm), HRS_D1 (kOhm), ...     D1 cycle 1 LTP (uS), ...
/// Or else columns whose names are times: 1 s (uS), 10 s (uS). Columns of one reading have one unit. Statistics are none, and neither
/// are currents: I1 and I2 are terminals as well.
ColumnEach column_each(const MeasuredText& text, const std::vector<LongColumn>& known, const std::vector<bool>& taken,
                       const std::vector<bool>& aside);

/// Refuses a table of places and values (row, col, value) where a matrix is read. Its names tell,
/// or without names two columns that count
/// through all rows and columns of an array.
void refuse_table_of_places(const MeasuredText& text);

/// Columns of a table that is read: those that are left aside, and places of the ones that tell its order (pulse, time, cycle).
struct DeviceSearch {
  std::vector<std::size_t> left;                         ///< columns that nothing is read from
  std::size_t device = FoundColumns::absent;             ///< column of devices or cells
  std::size_t cycle = FoundColumns::absent;              ///< column of cycles
  std::size_t order = FoundColumns::absent;              ///< numbers that grow within a record
  std::size_t direction = FoundColumns::absent;          ///< directions, empty at the start of a record
  std::string order_name = {}, device_key = {"device"};  ///< keys of --columns
  bool unordered = false;                                ///< rows have no order, as rows of sweeps
};

/// Columns that tell devices apart where no column is named for them, by their names: row, col; r and c, i and j in pairs. More than
/// one value of each occurs. A count of rows is none, and neither is one that counts with the order. Empty: there are none.
std::vector<std::size_t> device_columns(const MeasuredText& text, const DeviceSearch& at);

/// Refuses columns left aside that tell devices apart beside the column of devices: chip beside cell, where one cell is of two chips.
/// Refuses columns of few values too, whatever they are called or hold (a thickness, a temperature, a date), if records begin
/// where their values change. They may name devices or cycles. The message says which --columns read them. A column that
/// changes with the cycle is noted. So is one that changes within records, or only from device to device.
void check_devices(const MeasuredText& text, const DeviceSearch& at, std::vector<std::string>& notes);

}  // namespace nudge
