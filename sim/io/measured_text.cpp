// SPDX-License-Identifier: Apache-2.0
#include "sim/io/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <map>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/io/decoded_text.hpp"

namespace nudge {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) { throw UserError(where + ": " + what); }

/// Line ends of Windows and old Macs as line feeds.
std::string with_line_feeds(std::string text) {
  boost::replace_all(text, "\r\n", "\n");
  std::replace(text.begin(), text.end(), '\r', '\n');
  return text;
}

/// True of digits, one comma and digits, with sign and exponent.
bool has_decimal_comma(const std::string& cell) {
  const std::size_t comma = cell.find(',');
  if (comma == std::string::npos || cell.find('.') != std::string::npos ||
      cell.find(',', comma + 1) != std::string::npos)
    return false;
  std::string point = cell;
  point[comma] = '.';
  const bool digits = comma + 1 < cell.size() && std::isdigit(static_cast<unsigned char>(cell[comma + 1])) != 0;
  return digits && is_measured_number(point);
}

bool is_number(const std::string& cell, char separator) {
  return is_measured_number(cell) || (separator != ',' && has_decimal_comma(cell)) || is_grouped_number(cell);
}

bool has_number(const CsvRow& row, char sep) {
  return std::any_of(row.cells.begin(), row.cells.end(), [&](const auto& cell) { return is_number(cell, sep); });
}

/// Number of cells that most rows with numbers have, that of the first row among equals; 0: no row has a number.
std::size_t usual_cells(const std::vector<CsvRow>& rows, char separator) {
  std::map<std::size_t, std::size_t> count;
  for (const CsvRow& row : rows) {
    if (has_number(row, separator)) count[row.cells.size()] += 2;
  }
  if (const auto first = rows.empty() ? count.end() : count.find(rows[0].cells.size()); first != count.end()) {
    ++first->second;
  }
  const auto most =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == count.end() ? 0 : most->first;
}

/// Share of cells that are numbers or empty, over rows of the usual number of cells.
double share_of_numbers(const std::vector<CsvRow>& rows, char separator, std::size_t usual) {
  double sum = 0;
  for (const CsvRow& row : rows) {
    if (row.cells.size() != usual || !has_number(row, separator)) continue;
    const auto good = std::count_if(row.cells.begin(), row.cells.end(),
                                    [&](const auto& cell) { return cell.empty() || is_number(cell, separator); });
    sum += static_cast<double>(good) / static_cast<double>(usual);
  }
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

/// True of a row behind a table that sums it up, "Mean,,25.3,", where the first cell of the others is a number.
bool is_summary(const CsvRow& row, const CsvRow& first, char separator) {
  return !first.cells.empty() && !row.cells.empty() && is_number(first.cells[0], separator) && sums_up(row.cells[0]);
}

/// True where most rows begin with a number.
bool has_counter(const std::vector<CsvRow>& rows, char separator) {
  const auto numbers =
      std::count_if(rows.begin(), rows.end(), [&](const CsvRow& row) { return is_number(row.cells[0], separator); });
  return 2 * static_cast<std::size_t>(numbers) > rows.size();
}

/// True of a row of words and numbers above rows that begin with numbers, which is none of them: "Read voltage,0.1 V". Its numbers have units, or
/// names without numbers follow.
bool stands_above(const std::vector<CsvRow>& rows, std::size_t i, char separator) {
  const auto& cells = rows[i].cells;
  if (cells[0].empty() || is_number(cells[0], separator)) return false;
  const auto bare = [&](const std::string& cell) {
    return is_number(cell, separator) && std::isalpha(static_cast<unsigned char>(cell.back())) == 0;
  };
  if (std::none_of(cells.begin(), cells.end(), bare)) return true;
  for (std::size_t k = i + 1; k < rows.size() && !is_number(rows[k].cells[0], separator); ++k) {
    if (!has_number(rows[k], separator)) return true;
  }
  return false;
}

/// True of a line that begins with #, or with % or // and a blank, as of MATLAB: %2 may be a device.
bool is_comment(std::string_view line) {
  const auto blank = [&](std::size_t at) { return at >= line.size() || line[at] == ' ' || line[at] == '\t'; };
  return line[0] == '#' || (line[0] == '%' && blank(1)) || (line.starts_with("//") && blank(2));
}

bool is_empty(const CsvRow& row) {
  return std::all_of(row.cells.begin(), row.cells.end(), [](const std::string& cell) { return cell.empty(); });
}

/// The row i, or the next one that has a cell with something in it.
std::size_t filled_row(const std::vector<CsvRow>& rows, std::size_t i) {
  while (i + 1 < rows.size() && is_empty(rows[i])) ++i;
  return i;
}

/// Cells with one blank for each white space in them.
CsvRow with_single_blanks(CsvRow row) {
  for (std::string& cell : row.cells) {
    std::replace(cell.begin(), cell.end(), '\t', ' ');
    while (cell.find("  ") != std::string::npos) boost::replace_all(cell, "  ", " ");
  }
  return row;
}

/// True of digits with a sign.
bool is_whole(const std::string& cell) {
  const std::size_t first = !cell.empty() && (cell[0] == '-' || cell[0] == '+') ? 1 : 0;
  return cell.size() > first && cell.find_first_not_of("0123456789", first) == std::string::npos;
}

}  // namespace

std::string MeasuredText::place(int line) const { return line > 0 ? fmt::format("{}:{}", file, line) : file; }

namespace {

/// Cells of a line, which `out` becomes.
void split_line(std::string_view rest, char by, std::vector<std::string>& out) {
  if (by == ' ') {
    const std::string trimmed = boost::trim_copy(std::string(rest));
    boost::split(out, trimmed, boost::is_any_of(" \t"), boost::token_compress_on);
    return;
  }
  if (rest.find('"') != std::string_view::npos || rest.find('\'') != std::string_view::npos) {
    out = read_csv_record(rest, by);
    for (std::string& cell : out) {
      boost::trim(cell);
      std::replace(cell.begin(), cell.end(), '\n', ' ');  // names go into lines of text
    }
    return;
  }
  std::size_t n = 0;
  while (true) {
    const std::size_t end = std::min(rest.find(by), rest.size());
    std::string_view cell = rest.substr(0, end);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
    if (n < out.size()) {
      out[n] = cell;
    } else {
      out.emplace_back(cell);
    }
    ++n;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  out.resize(n);
}

}  // namespace

void MeasuredText::cells(const Span& span, char by, std::vector<std::string>& out) const {
  split_line(std::string_view(text_).substr(span.begin, span.length), by, out);
  if (!blocks_.empty()) cut(span.block, out);
}

std::vector<std::string> MeasuredText::line_cells(int line) const {
  std::vector<std::string> out;
  split_line(line_text(line), separator, out);
  return out;
}

void MeasuredText::row(std::size_t i, CsvRow& out) const {
  const Span& span = spans_[i % spans_.size()];
  out.line = span.line;
  cells(span, separator, out.cells);
  if (trailing_ > 0 && out.cells.size() == trailing_ && out.cells.back().empty()) out.cells.pop_back();
  for (std::size_t c = 0; c < std::min(out.cells.size(), marks.size()); ++c) {
    if (marks[c].any()) out.cells[c] = marks[c].plain(out.cells[c]);
  }
  const std::size_t columns = header.cells.size() - joined_.size() - added_;  // of the file
  if ((!joined_.empty() || added_ > 0) && out.cells.size() != columns) {
    refuse(place(out), fmt::format("{} cells, the table has {} columns", out.cells.size(), columns));
  }
  if (!titles_.empty()) {
    const std::vector<std::string>& titles = titles_[static_cast<std::size_t>(span.table)];
    out.cells.insert(out.cells.end(), titles.begin(), titles.end());
  }
  if (!stacked_.empty()) {
    const ColumnBlock& block = stacked_[i / spans_.size()];
    for (const std::size_t c : block.columns) out.cells.push_back(std::string(out.cells[c]));
    out.cells.insert(out.cells.end(), block.tags.begin(), block.tags.end());
    if (counts_lines_) out.cells.push_back(fmt::format("{}", i % spans_.size() + 1));
  }
  for (const Joined& of : joined_) {
    std::string cell;
    for (const std::size_t c : of.columns) cell += (cell.empty() ? "" : of.by) + out.cells.at(c);
    out.cells.push_back(std::move(cell));
  }
}

void MeasuredText::find_records() {
  std::string_view rest = text_;
  for (int number = 1; !rest.empty();) {
    const std::size_t begin = text_.size() - rest.size();
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const std::size_t first = line.find_first_not_of(" \t");
    const bool skipped = first == std::string_view::npos || is_comment(line.substr(first));
    std::size_t length = line.size();
    if (!skipped && line.find('"') != std::string_view::npos) {  // a cell in quotes may go on in the next line
      for (const char by : {',', ';', '\t'}) {
        std::string_view ahead = rest;
        read_csv_record(ahead, by);
        length = std::max(length, rest.size() - ahead.size() - (ahead.empty() && !text_.ends_with('\n') ? 0 : 1));
      }
    }
    if (!skipped) spans_.push_back({number, begin, length});
    if (skipped && first != std::string_view::npos && comments_.size() < kLooked) {
      comments_.push_back({number, begin, length});
    }
    number += static_cast<int>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(length), '\n')) + 1;
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
}

void MeasuredText::find_separator() {
  const auto rows_by = [&](char by) {
    std::vector<CsvRow> rows(std::min(spans_.size(), kLooked));
    for (std::size_t i = 0; i < rows.size(); ++i) cells(spans_[i], by, rows[i].cells);
    return rows;
  };
  double most = 0;
  for (const char by : {'\t', ';', ',', ' '}) {
    const std::vector<CsvRow> rows = rows_by(by);
    const std::size_t usual = usual_cells(rows, by);
    const double share = usual < 2 ? 0 : share_of_numbers(rows, by, usual);
    if (share <= (by == ' ' ? 1.1 : 1) * most) continue;  // a comment of several words, "device 5", favours blanks
    separator = by;
    most = share;
  }
  if (most > 0 || spans_.empty()) return;
  const std::vector<CsvRow> one = rows_by(';');  // one column, or names alone
  const auto comma = [](const CsvRow& row) { return row.cells.size() == 1 && has_decimal_comma(row.cells[0]); };
  const std::string_view first = std::string_view(text_).substr(spans_[0].begin, spans_[0].length);
  const bool tab = first.find('\t') != std::string_view::npos, semicolon = first.find(';') != std::string_view::npos;
  separator = tab ? '\t' : semicolon || std::any_of(one.begin(), one.end(), comma) ? ';' : ',';
}

void MeasuredText::find_table() {
  std::vector<CsvRow> rows(std::min(spans_.size(), kLooked));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].line = spans_[i].line;
    cells(spans_[i], separator, rows[i].cells);
  }
  std::size_t usual = usual_cells(rows, separator);
  if (usual == 0 && !rows.empty() && is_empty(rows[0])) usual = rows[0].cells.size();  // a map of gaps alone
  const auto is_data = [&](const CsvRow& row) {
    if (is_empty(row)) return row.cells.size() == usual;
    return has_number(row, separator) && !is_row_of_units(row.cells) &&
           (row.cells.size() > 1 || is_number(row.cells[0], separator));
  };
  const auto fits = [&](std::size_t i) { return usual <= 2 || rows[i].cells.size() > 1; };
  std::size_t begin = 0;
  const bool counted = has_counter(rows, separator);
  const auto starts = [&](std::size_t i) {  // a blank row begins a table where numbers follow
    const CsvRow& row = rows[filled_row(rows, i)];
    if (!is_data(row) || (row.cells.size() != usual && !is_number(row.cells[0], separator))) return false;
    return !counted || !stands_above(rows, i, separator);
  };
  while (begin < rows.size() && !starts(begin)) ++begin;
  if (begin == rows.size()) begin = rows.empty() ? 0 : 1;  // names alone
  for (auto i = static_cast<std::ptrdiff_t>(begin) - 1; i >= 0; --i) {
    if (is_empty(rows[static_cast<std::size_t>(i)]))
      rows.erase(rows.begin() + i), spans_.erase(spans_.begin() + i), --begin;
  }
  std::size_t names = begin;
  if (names > 0 && fits(names - 1)) --names;
  if (names < begin && names > 0 && is_row_of_units(rows[names].cells) && fits(names - 1)) {
    units = rows[names];
    --names;
  }
  if (units.cells.empty() && names < begin && names > 1 && is_row_of_units(rows[names - 1].cells) && fits(names - 2) &&
      rows[names - 2].cells.size() == rows[names].cells.size()) {  // names, units, comments
    aside.push_back(rows[names].line);
    units = rows[names - 1];
    names -= 2;
  }
  if (names < begin) header = with_single_blanks(rows[names]);
  for (std::size_t i = 0; i < comments_.size() && units.cells.empty() && names < begin && begin < spans_.size(); ++i) {
    CsvRow own{comments_[i].line, {}};
    cells(comments_[i], separator, own.cells);
    const bool below = header.line < own.line && own.line < spans_[begin].line;
    if (below && own.cells.size() == header.cells.size() && is_row_of_units(own.cells)) units = own;  // "#,uS,"
  }
  units = with_single_blanks(units);
  for (std::size_t i = names; i > 0; --i) aside.insert(aside.begin(), spans_[i - 1].line);
  const std::size_t first = filled_row(rows, begin);
  const auto is_blank = [&](const CsvRow& row) { return is_empty(row) && row.cells.size() == usual; };
  std::size_t end = spans_.size();
  std::vector<int> behind;
  CsvRow last;
  for (std::size_t i = end; i > begin; --i) {
    cells(spans_[i - 1], separator, last.cells);
    if (is_blank(last)) {
      if (end == i && !behind.empty()) end = i - 1;  // above a sum
      continue;
    }
    if (is_data(last) && !(first < rows.size() && is_summary(last, rows[first], separator))) break;
    behind.insert(behind.begin(), spans_[i - 1].line);
    end = i - 1;
  }
  refuse_other_rows(behind);
  refuse_other_rows(aside);
  aside.insert(aside.end(), behind.begin(), behind.end());
  spans_ = std::vector<Span>(spans_.begin() + static_cast<std::ptrdiff_t>(begin),
                             spans_.begin() + static_cast<std::ptrdiff_t>(end));
  leave_repeated_names();
}

void MeasuredText::find_commas() {
  // Names of one column above "12,5" tell that the comma is a decimal one.
  if (separator != ',' || header.cells.size() != 1 || empty() || row(0).cells.size() != 2) return;
  if (is_whole(row(0).cells[0]) && is_whole(row(0).cells[1])) {
    separator = ';';
  } else {  // a title above two columns
    aside.insert(std::lower_bound(aside.begin(), aside.end(), header.line), header.line);
    header = {};
  }
}

void MeasuredText::find_marks() {
  // All rows, since groups begin with the first number above 999; of very long tables some over all their length.
  const std::size_t step = 1 + size() / 1000000;
  std::vector<ColumnMarks> columns;
  CsvRow one;
  for (std::size_t i = 0; i < size(); i += step) {
    row(i, one);
    if (columns.size() < one.cells.size()) columns.resize(one.cells.size());
    for (std::size_t c = 0; c < one.cells.size(); ++c) columns[c].add(one.cells[c], one.line);
  }
  marks = ColumnMarks::of(columns, separator);
  decimal_comma = std::any_of(marks.begin(), marks.end(), [](const NumberMarks& m) { return m.decimal == ','; });
}

void MeasuredText::refuse_two_readings() const {
  if (separator != ',' || empty() || header.cells.size() == 2) return;
  // Columns of numbers of as many digits are two columns; digits of a fraction have another length than what is before them.
  std::array<std::size_t, 2> fewest{}, most{};
  for (std::size_t i = 0; i < size(); ++i) {
    const CsvRow one = row(i);
    if (one.cells.size() != 2 || !is_whole(one.cells[0]) || !is_whole(one.cells[1]) || one.cells[1][0] == '-') return;
    const std::string_view written = std::string_view(text_).substr(spans_[i].begin, spans_[i].length);
    if (written.find_first_of(" \t\"") != std::string_view::npos) return;
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t digits = one.cells[c].size() - (one.cells[c][0] == '-' || one.cells[c][0] == '+' ? 1 : 0);
      fewest[c] = i == 0 ? digits : std::min(fewest[c], digits);
      most[c] = std::max(most[c], digits);
    }
  }
  if (fewest[0] == fewest[1] && most[0] == most[1]) return;
  const CsvRow first = row(0);
  refuse(place(first),
         fmt::format(
             "\"{0},{1}\" is two columns, {0} and {1}, or one number, {0}.{1}: write \"{0}, {1}\" for two columns, "
             "{0}.{1} for one",
             first.cells[0], first.cells[1]));
}

MeasuredText read_measured_text(std::string_view bytes, const std::string& file) {
  MeasuredText out;
  out.file = file;
  out.text_ = with_line_feeds(decoded_text(bytes, file, out.encoding));
  boost::replace_all(out.text_, "\u2212", "-");  // the minus sign of spreadsheets
  out.find_records();
  out.find_separator();
  out.find_table();
  out.find_trailing();
  out.find_commas();
  out.find_marks();
  return out;
}

}  // namespace nudge
