// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nudge {

/// A row of a CSV file: the number of its line, from 1, and its cells as read_csv_record() takes them.
struct CsvRow {
  int line = 0;
  std::vector<std::string> cells;
};

/// All lines but empty ones and those that start with #; a byte order mark is skipped.
std::vector<CsvRow> csv_rows(std::string_view text);

/// Throws the UserError "WHERE: WHAT".
[[noreturn]] void csv_fail(const std::string& where, const std::string& what);

/// A conductance in siemens; `unit` (" uS") is that of cells without one, empty: S. UserError for what is no finite number ≥ 0 of
/// at most 0.1 S (no device: the unit is missing).
double csv_conductance(const std::string& cell, const std::string& unit, const std::string& where);

/// Whether a cell is meant as a number: "1.2e-6", "-0.5", "3 uS", "nan".
bool csv_is_number(const std::string& cell);

/// The text of a file, or of what a pipe gives; UserError when it cannot be read, or is longer than read_bound().
std::string read_csv_text(const std::string& path);

}  // namespace nudge
