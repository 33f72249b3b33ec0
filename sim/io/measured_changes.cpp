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

namespace {

/// True of a line with words in its first cell and nothing else.
bool is_title(const CsvRow& row) {
  return !row.cells.empty() && !row.cells[0].empty() && !is_measured_number(row.cells[0]) &&
         std::all_of(row.cells.begin() + 1, row.cells.end(), [](const std::string& cell) { return cell.empty(); });
}

/// Word that titles share before their numbers: "Device" of "Device 1" and "Device 2"; empty: they share none.
std::string shared_word(const std::vector<std::string>& titles) {
  std::string word;
  for (const std::string& title : titles) {
    const std::size_t digits = title.find_last_not_of("0123456789") + 1;
    const std::string own = boost::trim_right_copy_if(title.substr(0, digits), boost::is_any_of(" _-#:."));
    if (digits == title.size() || own.empty() || (!word.empty() && own != word)) return "";
    word = own;
  }
  return word;
}

}  // namespace

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

void MeasuredText::leave(const Span& span) {
  aside.insert(std::upper_bound(aside.begin(), aside.end(), span.line), span.line);
}

/// Leaves lines aside that say the names again: files that were put together. Rows keep the number of their table.
void MeasuredText::leave_repeated_names() {
  if (header.cells.empty()) return;
  const std::string names = line_text(header.line);
  int table = 0;
  std::erase_if(spans_, [&](Span& span) {
    span.table = table;
    if (span.length != names.size() || std::string_view(text_).substr(span.begin, span.length) != names) return false;
    leave(span);
    ++table;
    return true;
  });
}

void MeasuredText::take_tables() {
  if (header.cells.size() < 2 || spans_.empty()) return;
  CsvRow row;
  std::string title;
  if (const auto above = std::lower_bound(aside.begin(), aside.end(), header.line); above != aside.begin()) {
    const std::string line = line_text(*(above - 1));
    std::string_view rest = line;
    row.cells = read_csv_record(rest, separator);
    if (is_title(row)) title = row.cells[0];
  }
  std::vector<std::string> titles{title};
  bool titled = false, opens = false;
  int last = spans_[0].table;
  std::erase_if(spans_, [&](Span& span) {
    cells(span, separator, row.cells);
    if (is_title(row)) {
      title = row.cells[0];
      opens = titled = true;
      leave(span);
      return true;
    }
    const bool words = std::none_of(row.cells.begin(), row.cells.end(), is_measured_number);
    if (opens && words && row.cells.size() == header.cells.size()) {
      throw UserError(place(span.line) +
                      fmt::format(": names of columns that differ from those of line {}: tables in one file have the "
                                  "same columns, in the same units",
                                  header.line));
    }
    if (opens || span.table != last) titles.push_back(std::exchange(title, ""));
    opens = false;
    last = span.table;
    span.table = static_cast<int>(titles.size()) - 1;
    return false;
  });
  if (titles.size() < 2) return;
  for (std::size_t k = 0; k < titles.size(); ++k) {
    if (!titled || titles[k].empty()) titles[k] = fmt::format("{}", k + 1);
  }
  const std::string word = shared_word(titles);
  titles_ = std::move(titles);
  titled_ = header.cells.size();
  header.cells.push_back(word.empty() ? "tables" : word);
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
  ++added_;
}

CsvRow MeasuredText::commented_names() const {
  if (!header.cells.empty() || spans_.empty()) return {};
  const auto above =
      std::find_if(comments_.rbegin(), comments_.rend(), [&](const Span& one) { return one.line < spans_[0].line; });
  if (above == comments_.rend()) return {};
  CsvRow out{above->line, {}};
  Span span = *above;
  const std::size_t mark = text_.find_first_not_of(" \t#", span.begin);
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

void MeasuredText::stack(std::vector<ColumnBlock> blocks, const std::vector<std::string>& names) {
  stacked_ = std::move(blocks);
  added_ += names.size();
  header.cells.insert(header.cells.end(), names.begin(), names.end());
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
