// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/labels.hpp"
#include "devices/fit/long_table.hpp"

namespace nudge {

/// Search for the columns of one table: choose(), find(), find_devices() and done(), in this order (find_columns()).
class ColumnFinder {
 public:
  /// `told`: columns that titles of tables tell.
  ColumnFinder(MeasuredText& text, const std::vector<LongColumn>& known, std::vector<ToldColumn> told);

  /// Takes "g=COL3,t=COL1 ms". What is told of the table as a whole (decimal, aside, polarity) comes first.
  void choose(const std::string& choice);

  /// Takes each known column by the best of its names.
  void find();

  /// Takes columns that tell devices apart together, where no column is named for devices. It refuses what would be one device
  /// in silence.
  void find_devices();

  /// Refuses a column that may be a slip for one that is missing, and a table of which none is known. It names the others.
  FoundColumns done(const std::string& hint);

  const Understood& understood() const { return understood_; }
  /// True of a conductance, or of what stands for one.
  bool has_reading() const { return has("conductance") || has("resistance") || has("current"); }
  std::vector<std::string> missing_needed() const;

 private:
  /// Takes one part of a choice, NAME=COLUMN UNIT.
  void take_part(const std::string& choice, const std::string& part);
  /// Refuses a choice that gives a column a second meaning, or a meaning a second column.
  void refuse_second(std::size_t k, std::size_t c) const;
  /// Place of a known column among them; their number: it is none of them.
  std::size_t known_at(const char* name) const;
  bool has(const char* name) const { return known_at(name) < known_.size() && found_.has(known_at(name)); }
  /// True where a column may be a known one by its name.
  bool finds(const char* name) const;
  /// Refuses a further column of conductances or resistances that nothing reads and that is no statistic: another device's, perhaps.
  void refuse_left_readings() const;
  /// Leaves voltages of reads aside where there is no current: they may be what differs between devices.
  void leave_read_voltage();
  /// True of a column I, R or ID without a unit beside conductances that counts lines of an array: no current, no resistance.
  bool is_number_of_device(std::size_t k, std::size_t c) const;
  std::vector<std::string> missing() const;
  [[noreturn]] void fail_absent(const std::string& column) const;
  /// Takes "aside=note", which leaves a column aside, "decimal=point" or "decimal=comma", and "polarity=reversed".
  bool take_other(const std::string& key, const std::string& value);
  /// Finds a table with columns for each device, cycle or direction (column_each()).
  void find_column_each();
  /// Known column that names of columns below each other tell: device, or cycle; known_.size(): columns tell both already.
  std::size_t told_by_names() const;
  /// Place of the known column of devices, or of cells.
  std::size_t device_at() const { return known_at("device") < known_.size() ? known_at("device") : known_at("cell"); }
  /// Columns that hold blocks below each other: one for each of their columns, then one for each of their tags, called so.
  /// `uncounted`: no column of them counts pulses.
  std::vector<std::size_t> stacked(const std::vector<ColumnBlock>& blocks, const std::vector<std::string>& tags,
                                   bool uncounted);
  /// Unit of columns below each other, `told` by the user or else their own; refuses two that differ.
  std::string shared_unit(const std::vector<std::size_t>& columns, std::size_t k, const std::string& told) const;
  /// Place of a column that the table gets behind its own.
  std::size_t added(const std::string& name);
  /// Column that holds others side by side, with `by` between them.
  std::size_t joined(const std::vector<std::size_t>& columns, const char* by = ", ");
  /// Takes a column of dates before the times of day beside it.
  void join_dates();
  /// Place of a column by its name, of its number (COL3), or of several as "row+col": side by side, or below each other. The
  /// latter share a unit, which `unit` becomes.
  std::size_t column_of(const std::string& column, std::size_t k, std::string& unit);
  std::size_t place_of(const std::string& column) const;
  /// Unit in the name of a column, or in the line below it; refuses two that differ.
  std::string unit_of(std::size_t k, std::size_t c) const;
  /// Refuses numbers with two readings, and says that digits are grouped.
  void check_marks(std::size_t c);
  void take(std::size_t k, std::size_t c, std::string unit);

  MeasuredText& text_;
  const std::vector<LongColumn>& known_;
  std::vector<std::string> names_;
  std::vector<bool> taken_, aside_;  ///< read; left aside by the user
  std::string where_;
  bool decimal_told_ = false;  ///< by the user
  bool chosen_ = false;        ///< the user has told columns of readings
  std::vector<ToldColumn> told_;
  std::size_t of_file_;                 ///< number of columns before any were put together
  std::vector<std::string> each_ = {};  ///< columns below each other that are one reading
  FoundColumns found_;
  Understood understood_;
};

}  // namespace nudge
