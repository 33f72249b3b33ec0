// SPDX-License-Identifier: Apache-2.0
// What is done to a table of measurements once it is read: columns are put together, lines left out, marks told.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/measured_text.hpp"

namespace nudge {

void MeasuredText::find_trailing() {
  if (empty()) return;
  if (header.cells.empty()) {  // of a matrix, whose other cells are all there
    CsvRow one;
    for (std::size_t i = 0; i < size(); ++i) {
      row(i, one);
      const std::size_t width = one.cells.size();
      const auto gaps = std::count(one.cells.begin(), one.cells.end(), "");
      if (width < 2 || gaps != 1 || !one.cells.back().empty() || width != row(0).cells.size()) return;
    }
    trailing_ = row(0).cells.size();
    return;
  }
  const std::size_t named = header.cells.size(), width = row(0).cells.size();
  if (named + 1 != width && !(named == width && header.cells.back().empty())) return;
  for (std::size_t i = 0; i < std::min(size(), kLooked); ++i) {
    const std::vector<std::string> own = row(i).cells;
    if (own.size() + 1 != width && !(own.size() == width && own.back().empty())) return;
  }
  trailing_ = width;
  if (named == width) header.cells.pop_back();
  if (units.cells.size() == width) units.cells.pop_back();
}

/// Refuses lines above or behind the table that are rows of numbers by another separator: files that were put together. Of a matrix one is
/// a row; beside a table with names it may be an instrument's.
void MeasuredText::refuse_other_rows(const std::vector<int>& behind) const {
  const std::size_t least = header.cells.empty() ? 1 : 3;
  std::vector<int> rows;
  for (const int line : behind) {
    const std::string text = boost::trim_copy_if(line_text(line), boost::is_any_of(" \t\""));
    std::vector<std::string> parts;
    boost::split(parts, text, boost::is_any_of(",;\t \""), boost::token_compress_on);
    const auto numbers = std::count_if(parts.begin(), parts.end(), is_measured_number);
    if (parts.size() > 1 && numbers > 1 && is_measured_number(parts[0])) rows.push_back(line);
  }
  if (rows.size() < least) return;
  throw UserError(place(rows[0]) +
                  fmt::format(": rows of numbers with another separator than the table's, or in quotes "
                              "({} lines): one separator for a file",
                              rows.size()));
}

void MeasuredText::leave(const Span& span) {
  const auto at = std::lower_bound(aside.begin(), aside.end(), span.line);
  if (at == aside.end() || *at != span.line) aside.insert(at, span.line);
}

CsvRow MeasuredText::commented_names() const {
  if (!header.cells.empty() || spans_.empty()) return {};
  const auto above =
      std::find_if(comments_.rbegin(), comments_.rend(), [&](const Span& one) { return one.line < spans_[0].line; });
  if (above == comments_.rend()) return {};
  CsvRow out{above->line, {}};
  Span span = *above;
  const std::size_t mark = text_.find_first_not_of(" \t#%/", span.begin);
  if (mark >= span.begin + span.length) return {};
  span.length -= mark - span.begin;
  span.begin = mark;
  cells(span, separator, out.cells);
  const bool number = std::any_of(out.cells.begin(), out.cells.end(), is_measured_number);
  return number || out.cells.size() != row(0).cells.size() ? CsvRow{} : out;
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

void MeasuredText::stack(std::vector<ColumnBlock> blocks, const std::vector<std::string>& names, bool count_lines) {
  stacked_ = std::move(blocks);
  counts_lines_ = count_lines;
  added_ += names.size();
  header.cells.insert(header.cells.end(), names.begin(), names.end());
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
}

void MeasuredText::join(const std::vector<std::size_t>& columns, const std::string& name, const char* by) {
  joined_.push_back({columns, by});
  header.cells.push_back(name);
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
}

}  // namespace nudge
