// SPDX-License-Identifier: Apache-2.0
// What was read in a table of measurements, for its user.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "devices/fit/long_table.hpp"

namespace nudge {

std::string Understood::text(const std::string& mark) const {
  std::string out =
      fmt::format("{}{}: {}, {}{}; {}{}{} rows in lines {} to {}\n", mark, file, encoding, separator,
                  decimal_comma ? ", decimal comma" : "",
                  header_line > 0 ? fmt::format("names in line {}, ", header_line) : "no header, ",
                  unit_line > 0 ? fmt::format("units in line {}, ", unit_line) : "", rows, first_line, last_line);
  std::vector<std::string> taken;
  for (const Column& column : columns) {
    taken.push_back(fmt::format("{}{}{}", column.meaning,
                                column.name == column.meaning ? "" : fmt::format(" = \"{}\"", column.name),
                                column.unit.empty() ? "" : fmt::format(" in {}", column.unit)));
  }
  out += fmt::format("{}columns: {}\n", mark, fmt::join(taken, ", "));
  if (!left_columns.empty()) out += fmt::format("{}columns left aside: {}\n", mark, fmt::join(left_columns, ", "));
  if (!left_lines.empty()) out += fmt::format("{}lines left aside: {}\n", mark, fmt::join(left_lines, ", "));
  if (!missing_lines.empty()) {
    const std::size_t shown = std::min<std::size_t>(missing_lines.size(), 10);
    out +=
        fmt::format("{}{} readings are missing (an overflow, or no number): lines {}{}\n", mark, missing_lines.size(),
                    fmt::join(missing_lines.begin(), missing_lines.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < missing_lines.size() ? ", ..." : "");
  }
  for (const std::string& note : notes) out += fmt::format("{}note: {}\n", mark, note);
  return out;
}

Understood layout_of(const MeasuredText& text) {
  Understood said;
  said.file = text.file;
  said.encoding = text.encoding;
  said.separator = text.separator == '\t'  ? "separated by tabs"
                   : text.separator == ' ' ? "separated by blanks"
                                           : fmt::format("separated by \"{}\"", text.separator);
  said.decimal_comma = text.decimal_comma;
  said.header_line = text.header.line;
  said.unit_line = text.units.line;
  said.rows = text.lines();
  said.first_line = text.empty() ? 0 : text.line(0);
  said.last_line = text.empty() ? 0 : text.line(text.size() - 1);
  said.left_lines = text.aside;
  for (const NumberMarks& own : text.marks) {
    if (own.doubt_line == 0 || own.refused) continue;
    NumberMarks groups{own.decimal == ',' ? '.' : ',', std::string(1, own.decimal)};
    said.notes.push_back(
        fmt::format("\"{}\" in line {} is read as {}, with a decimal {}. If it is {}, say --columns \"decimal={}\"",
                    own.doubt, own.doubt_line, own.plain(own.doubt), own.decimal == ',' ? "comma" : "point",
                    groups.plain(own.doubt), own.decimal == ',' ? "point" : "comma"));
    break;  // one tells
  }
  return said;
}

}  // namespace nudge
