// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.hpp"

namespace nudge {

/// Column that a table of measurements may have. Its unit stands in its name, "time_ms"; without one it is the SI unit.
struct LongColumn {
  std::string name;
  Unit unit = Unit::none;
  bool required = false;
};

/// Rows of measurements by column, in SI units; line numbers as in the file. Absent columns are empty.
struct LongTable {
  std::string file;
  std::vector<int> lines;
  std::vector<std::vector<double>> columns;  ///< in the order of the LongColumns asked for
};

/// Reads a table separated by commas or tabs, with a header of the known columns in any order. A table without a header
/// has the columns `bare`, in that order. Lines that start with # are skipped. UserError with file:line for an unknown, missing
/// or doubled column, another number of cells, a cell that is not a finite number (a unit in a cell too: units of a column
/// cannot differ from row to row), a negative time, or a conductance beyond 0.1 S (a reader's offset may make a small one
/// negative).
LongTable parse_long_table(std::string_view text, const std::string& file, const std::vector<LongColumn>& known,
                           const std::vector<std::string>& bare);

/// Text of a table's file, inflated if it is a .gz.
std::string read_table_text(const std::string& path);

/// Cell as a number in SI units, checked as parse_long_table() does.
double long_table_number(const std::string& cell, const LongColumn& column, double factor, const std::string& where);

/// Cells of a line, without blanks and quotes around them.
std::vector<std::string> split_table_line(std::string_view line, char separator);

/// A line of a text and its number, from 1.
struct TextLine {
  int number = 0;
  std::string_view text;
};

/// Lines that are neither empty nor comments (#), without their ends; a byte order mark is skipped.
std::vector<TextLine> table_lines(std::string_view text);

/// A row of a CSV file: the number of its line, from 1, and its cells as read_csv_record() takes them.
struct CsvRow {
  int line = 0;
  std::vector<std::string> cells;
};

/// Rows of a text, without empty lines and lines that start with #; a byte order mark is skipped.
std::vector<CsvRow> csv_rows(std::string_view text);

/// Throws the UserError "WHERE: WHAT".
[[noreturn]] void csv_fail(const std::string& where, const std::string& what);

/// Cell as a number in SI units of kind `of`. unit: that of cells without one; name: of the column, for errors; where: line of the file.
double cell_number(const std::string& text, const std::string& unit, Unit of, const char* name,
                   const std::string& where);

/// Conductance of a cell in siemens; `unit` (" uS") is that of cells without one, empty: S. UserError unless it is a finite
/// number ≥ 0 of at most 0.1 S (above: no device, the unit is missing).
double csv_conductance(const std::string& cell, const std::string& unit, const std::string& where);

/// True if a cell is meant as a number: "1.2e-6", "-0.5", "3 uS", "nan".
bool csv_is_number(const std::string& cell);

/// Text of a file or a pipe; UserError if it cannot be read, or is longer than read_bound().
std::string read_csv_text(const std::string& path);

}  // namespace nudge
