// SPDX-License-Identifier: Apache-2.0
// What is done to a table of measurements once it is read: columns are put together, lines left out, marks told.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <functional>
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

namespace {

/// Titles above a table of several below each other.
struct TableTitles {
  std::vector<std::string> lines = {};
  std::string direction = {};
};

/// Takes words for a direction out of titles: "LTP", "Device 1 LTD". A table without another title is of the device before.
void split_directions(std::vector<TableTitles>& tables, const std::function<bool(const std::string&)>& is_direction) {
  for (TableTitles& table : tables) {
    for (std::string& line : table.lines) {
      std::vector<std::string> words, others;
      boost::split(words, line, boost::is_any_of(" ,;:-_"), boost::token_compress_on);
      for (const std::string& word : words) {
        if (table.direction.empty() && is_direction(word)) {
          table.direction = word;
        } else if (!word.empty()) {
          others.push_back(word);
        }
      }
      if (others.size() < words.size() && !table.direction.empty()) line = boost::join(others, " ");
    }
    std::erase(table.lines, "");
    if (table.lines.empty() && !table.direction.empty() && &table != tables.data()) table.lines = (&table - 1)->lines;
  }
}

/// Names of tables: their titles but for those of all. Numbers, where a table has none; none where all are alike.
std::vector<std::string> names_of_tables(const std::vector<TableTitles>& tables) {
  std::vector<std::string> names;
  bool alike = true;
  for (const TableTitles& table : tables) {
    std::vector<std::string> own;
    for (const std::string& line : table.lines) {
      const bool everywhere = std::all_of(tables.begin(), tables.end(), [&](const TableTitles& other) {
        return std::find(other.lines.begin(), other.lines.end(), line) != other.lines.end();
      });
      if (!everywhere) own.push_back(line);
    }
    names.push_back(boost::join(own, ", "));
    alike = alike && names.back() == names.front();
  }
  const bool directed =
      std::any_of(tables.begin(), tables.end(), [](const auto& one) { return !one.direction.empty(); });
  if (alike && directed) return {};
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (alike || names[k].empty()) names[k] = fmt::format("{}", k + 1);
  }
  return names;
}

}  // namespace

void MeasuredText::take_tables(const std::function<bool(const std::string&)>& is_direction) {
  if (header.cells.size() < 2 || spans_.empty()) return;
  CsvRow row;
  std::vector<TableTitles> tables(1);
  std::vector<std::string> waiting;  // titles of the table that comes
  std::size_t most = 0;              // titles of a table behind the first
  int last = spans_[0].table;
  std::vector<Span> rows;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    Span span = spans_[i];
    cells(span, separator, row.cells);
    const bool above_names = i + 1 < spans_.size() && spans_[i + 1].table != span.table;
    const bool words = std::none_of(row.cells.begin(), row.cells.end(), is_measured_number);
    if (is_title(row) || (words && above_names && row.cells.size() != header.cells.size())) {
      waiting.push_back(boost::trim_right_copy_if(line_text(span.line), boost::is_any_of(" \t,;\"")));
      boost::trim_left_if(waiting.back(), boost::is_any_of(" \t\""));
      leave(span);
      continue;
    }
    if (!waiting.empty() && words && row.cells.size() == header.cells.size()) {
      throw UserError(place(span.line) + fmt::format(": names of columns that differ from those of line {}: tables in "
                                                     "one file have the same columns, in the same units",
                                                     header.line));
    }
    if (!rows.empty() && (!waiting.empty() || span.table != last)) {
      most = std::max(most, waiting.size());
      tables.push_back({std::exchange(waiting, {})});
    }
    last = span.table;
    span.table = static_cast<int>(tables.size()) - 1;
    rows.push_back(span);
  }
  if (tables.size() < 2) return;
  spans_ = std::move(rows);
  const auto above = std::lower_bound(aside.begin(), aside.end(), header.line);
  for (auto at = above; at != aside.begin() && tables[0].lines.size() < most;) {
    --at;
    const std::string line = boost::trim_right_copy_if(line_text(*at), boost::is_any_of(" \t,;\""));
    tables[0].lines.insert(tables[0].lines.begin(), boost::trim_left_copy_if(line, boost::is_any_of(" \t\"")));
  }
  split_directions(tables, is_direction);
  std::vector<std::string> names = names_of_tables(tables);
  const bool directed =
      std::any_of(tables.begin(), tables.end(), [](const auto& one) { return !one.direction.empty(); });
  titles_.assign(tables.size(), {});
  titled_ = header.cells.size();
  if (!names.empty()) {
    const std::string word = shared_word(names);
    header.cells.push_back(word.empty() ? "tables" : word);
    for (std::size_t k = 0; k < tables.size(); ++k) titles_[k].push_back(names[k]);
  } else {
    titled_ = header.cells.size() + 1;  // none
  }
  if (directed) {
    header.cells.emplace_back("directions of tables");
    for (std::size_t k = 0; k < tables.size(); ++k) titles_[k].push_back(tables[k].direction);
  }
  added_ += titles_[0].size();
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
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
