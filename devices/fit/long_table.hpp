// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/io/measured_text.hpp"

namespace nudge {

/// Largest conductance of a device: a filament of one atom has 78 uS, and 0.1 S is 10 ohm, a wire with its contacts.
inline constexpr double kMostConductance_S = 0.1;

/// Largest conductance that is read where no unit is told: 1 kOhm. Above it a file in mS, mA or kOhm is as likely.
inline constexpr double kMostUntold_S = 1e-3;

/// Column that a table of measurements may have.
struct LongColumn {
  std::string name;
  Unit unit = Unit::none;
  bool required = false;
  std::string untold = {};  ///< unit of its numbers where the file tells none; empty: SI
  std::optional<double> (*word)(const std::string& cell) =
      nullptr;  ///< number of a word that its cells are; null: they are numbers
};

/// Names of columns.
std::vector<std::string> column_names(const std::vector<LongColumn>& known);

/// Reading of a file, shown to its user, who knows what it holds.
struct Understood {
  /// Column that was taken: what for, its name in the file, its unit.
  struct Column {
    std::string meaning, name, unit;
  };
  std::string file, encoding, separator;
  bool decimal_comma = false;
  int header_line = 0, unit_line = 0, first_line = 0, last_line = 0;  ///< 0: none
  std::size_t rows = 0;
  std::vector<Column> columns;
  std::vector<std::string> left_columns;  ///< further columns, which are not read
  std::vector<int> left_lines;            ///< lines of an instrument around the table
  std::vector<int> missing_lines = {};    ///< lines whose reading is an instrument's overflow
  std::vector<std::string> notes = {};    ///< what was concluded from the numbers, and what looks odd

  /// Up to five lines and the notes, each after `mark`.
  std::string text(const std::string& mark) const;
};

/// Layout of a text as it was read, without its columns.
Understood layout_of(const MeasuredText& text);

/// Choice of columns by a user, and what was read in the files.
struct TableLook {
  std::string columns;  ///< choice of find_columns(); empty: none
  std::vector<Understood> understood = {};
  double read_voltage_V = 0;  ///< at which currents were read where no column tells it; 0: not given
};

/// Columns that were found in a table.
struct FoundColumns {
  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place;  ///< of every known column; absent: it is not there
  std::vector<std::string> unit;   ///< unit of its cells; empty: SI
  std::vector<double> factor;      ///< of its numbers to SI
  std::vector<bool> reciprocal;    ///< conductances that are written as resistances: the factor is to ohms
  bool reversed = false;           ///< directions and voltages have the other sign ("polarity=reversed")

  bool has(std::size_t column) const { return place[column] != absent; }
};

/// Known column of siemens and the columns that may stand for it: conductance; resistance; current and read_voltage.
struct ConductanceColumns {
  std::size_t conductance, resistance, current, read_voltage;
};
/// Adds the columns that may stand for a conductance.
ConductanceColumns add_conductance(std::vector<LongColumn>& known);

/// Leaves further columns aside that stand for a conductance beside the first of conductance, resistance, current. UserError with file:line where
/// they contradict it: by more than a factor of three in half of the rows.
void leave_second_readings(const MeasuredText& text, const std::vector<LongColumn>& known, FoundColumns& found,
                           Understood& said);

/// Refuses a conductance beyond kMostUntold_S of a column without a unit. The message has both readings.
void refuse_untold_unit(const MeasuredText& text, const FoundColumns& found, const ConductanceColumns& at,
                        double most_S, int line);

/// Refuses a line beside the table ("unit: mS"), or one of `told`, whose unit no column takes, or that differs from its column's.
void refuse_told_units(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found,
                       std::vector<std::pair<std::string, int>> told);

/// Refuses a table without a column that is needed, with what it has instead.
[[noreturn]] void fail_missing(const MeasuredText& text, const std::vector<LongColumn>& known,
                               const std::string& needed);

/// Finds the known columns by their names and by common other names (G, R, t, V, address, pulse #, ...). Units stand in the name
/// ("G (uS)", "t/ms", "conductance_uS") or in a row below. Further columns are left aside, and named. `look.columns` overrules:
/// "g=COL3,t=COL1 ms" takes the third column for the conductance and the first as a time in ms. Names of columns do as well, and places
/// count in a table without a header too. A column has one meaning. "device=row+col" takes
/// columns side by side, "aside=note" leaves one aside, "decimal=point" tells the decimal sign, "polarity=reversed" that positive voltages lower the conductance. Where no column is named for devices, those that tell them apart are taken
/// together (device_columns()). Units that are told twice must be the same. UserError with file:line for a missing or doubled column, or for
/// a unit that does not fit. An unknown column that may be a slip for a known one is an error too. `hint` ends the message where no column is known. What was read is added to `look`.
FoundColumns find_columns(MeasuredText& text, const std::vector<LongColumn>& known, TableLook& look,
                          const std::string& hint = {});

/// Rows of measurements by column, in SI units; line numbers as in the file. Absent columns are empty.
struct LongTable {
  std::string file;
  std::vector<int> lines;
  std::vector<std::vector<double>> columns;  ///< in the order of the LongColumns asked for
  /// Rows that were left out for an instrument's overflow, in the same way: infinity where it overflowed, NaN where there is no reading.
  std::vector<std::vector<double>> missing = {};
};

/// Reads a table of measured_text.hpp whose columns are found by find_columns(). A conductance may stand as a resistance or as
/// a current and its read_voltage, a column or else of `look`. A table without a header has the columns `bare`, in that order. UserError with file:line
/// for what those two refuse, another number of cells, a negative time, or a conductance beyond 0.1 S. A cell that is no finite
/// number is refused, and so is one with a unit: units of a column cannot differ from row to row.
///
/// Rows with an instrument's overflow are left out, and counted. Times may be stamps (time_stamp.hpp): dates, or seconds of
/// Unix. Dates that end with the year have the order that a day above 12 tells, in some row of their column or else of another. UserError with
/// both readings where none does. Times are then counted from the column programming_time, or from the first row of their cell.
LongTable parse_long_table(std::string_view text, const std::string& file, std::vector<LongColumn> known,
                           const std::vector<std::string>& bare, TableLook& look);

/// True of a cell without a reading: an instrument's overflow, nothing, or a dash.
inline bool is_missing_reading(const std::string& cell) {
  return is_overflow(cell) || is_no_reading(cell) || cell == "-" || cell == "\u2013";
}

/// True if a text has a header that names a reading (conductance, resistance or current) and another of the known columns.
bool names_columns(const MeasuredText& text, const std::vector<LongColumn>& known);

/// Takes the comment above a table without a header ("# pulse G(S)") for its header, where it names a reading and another column.
void take_commented_names(MeasuredText& text, const std::vector<LongColumn>& known);

/// Gives the columns of a text without a header the names COL1, COL2, ..., which a choice of columns speaks of.
void name_by_place(MeasuredText& text);

/// Refuses files that hold the same bytes: one file given twice, or a copy. Their measurements are no independent ones.
void refuse_twice(const std::vector<std::string>& paths, const std::vector<std::string>& texts);

/// Text of a table's file, inflated if it is a .gz.
std::string read_table_text(const std::string& path);

/// Cell as a number in SI units, checked as parse_long_table() does.
double long_table_number(const std::string& cell, const LongColumn& column, double factor, const std::string& where);

/// Reading of a table that is judged by its change among the changes of its group, a level.
struct GroupedReading {
  double group = 0, conductance_S = 0, start_S = 0;
  std::string file = {};
  int line = 0;
};
/// Refuses a negative conductance that its reader's offset does not explain. That is one further below its start than three times the
/// 1 % quantile of its group; technology C has a reading whose offset explains it.
void check_negative(const std::vector<GroupedReading>& readings);

/// Throws the UserError "WHERE: WHAT".
[[noreturn]] void csv_fail(const std::string& where, const std::string& what);

/// Cell as a number in SI units of kind `of`. unit: for cells without one; name: of the column, for errors; where: line of the file.
double cell_number(const std::string& text, const std::string& unit, Unit of, const char* name,
                   const std::string& where);

/// Conductance of a cell in siemens; `unit` ("uS") is for cells without one, empty: S. UserError unless it is a finite
/// number ≥ 0 of at most 0.1 S (above: no device, the unit is missing).
double csv_conductance(const std::string& cell, const std::string& unit, const std::string& where);

/// Text of a file or a pipe; UserError if it cannot be read, or is longer than read_bound().
std::string read_csv_text(const std::string& path);

}  // namespace nudge
