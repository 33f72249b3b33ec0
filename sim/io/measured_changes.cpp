// SPDX-License-Identifier: Apache-2.0
// What is done to a table of measurements once it is read: columns are put together, lines left out, marks told.
#include <fmt/format.h>

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/io/measured_text.hpp"

namespace nudge {

/// Leaves lines aside that say the names again: files that were put together.
void MeasuredText::leave_repeated_names() {
  if (header.cells.empty()) return;
  const std::string names = line_text(header.line);
  const auto repeats = [&](const Span& span) {
    return span.length == names.size() && std::string_view(text_).substr(span.begin, span.length) == names;
  };
  for (const Span& span : spans_) {
    if (repeats(span)) aside.insert(std::upper_bound(aside.begin(), aside.end(), span.line), span.line);
  }
  std::erase_if(spans_, repeats);
}

void MeasuredText::leave_blank_rows() {
  const std::string none = std::string(" \t\"") + separator;
  std::erase_if(spans_, [&](const Span& span) {
    return std::string_view(text_).substr(span.begin, span.length).find_first_not_of(none) == std::string_view::npos;
  });
}

void MeasuredText::take_decimal(char sign) {
  for (NumberMarks& own : marks) own = {sign, sign == '.' ? "," : ".", {}, 0, false};
  decimal_comma = sign == ',';
}

void MeasuredText::refuse_doubt(std::size_t column) const {
  if (column >= marks.size() || !marks[column].refused) return;
  const NumberMarks& own = marks[column];
  NumberMarks groups;
  groups.decimal = own.decimal == ',' ? '.' : ',';
  groups.thousands = std::string(1, own.decimal);
  throw UserError(
      place(own.doubt_line) + ": " +
      fmt::format("\"{}\" is {} (a decimal {}) or {} (groups of three digits): write numbers without groups and with a "
                  "decimal point",
                  own.doubt, own.plain(own.doubt), own.decimal == ',' ? "comma" : "point", groups.plain(own.doubt)));
}

void MeasuredText::stack(const std::vector<std::size_t>& columns, const std::string& cells, const std::string& names) {
  stacked_ = columns;
  header.cells.push_back(cells);
  header.cells.push_back(names);
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
}

void MeasuredText::join(const std::vector<std::size_t>& columns, const std::string& name) {
  joined_.push_back(columns);
  header.cells.push_back(name);
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
}

std::string joined_cells(const CsvRow& row, const std::vector<std::size_t>& columns) {
  std::string out;
  for (const std::size_t c : columns) out += (out.empty() ? "" : ", ") + row.cells.at(c);
  return out;
}

}  // namespace nudge
