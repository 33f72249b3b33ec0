// SPDX-License-Identifier: Apache-2.0
// Several tables in one file: beside each other and below each other, with their titles.
#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <utility>

#include "sim/base/errors.hpp"
#include "sim/io/measured_text.hpp"

namespace nudge {

namespace {

/// True of two names of a column, or of one that pandas has numbered: "G (uS)", "G (uS).1".
bool is_same_name(const std::string& first, const std::string& again) {
  if (first == again) return true;
  const std::size_t digits = again.find_last_not_of("0123456789") + 1;
  return digits < again.size() && digits > 0 && again[digits - 1] == '.' && again.substr(0, digits - 1) == first;
}

/// First columns of tables beside each other, whose names are the same; fewer than two: there is one table. Sets their width.
std::vector<std::size_t> repeats_of(const std::vector<std::string>& names, std::size_t& width) {
  std::vector<std::size_t> starts;
  std::size_t first = 0;
  while (first < names.size() && names[first].empty()) ++first;
  width = 1;
  while (first + width < names.size() && !names[first + width].empty() &&
         !is_same_name(names[first], names[first + width])) {
    ++width;
  }
  for (std::size_t at = first; at < names.size();) {
    if (names[at].empty()) {
      ++at;
      continue;
    }
    for (std::size_t c = 0; c < width; ++c) {
      if (at + c >= names.size() || !is_same_name(names[first + c], names[at + c])) return {};
    }
    starts.push_back(at);
    at += width;
  }
  return width > 1 ? starts : std::vector<std::size_t>{};
}

std::string plain_title(std::string line) {
  boost::trim_right_if(line, boost::is_any_of(" \t,;\""));
  boost::trim_left_if(line, boost::is_any_of(" \t\""));
  return line;
}

bool is_blank(const std::vector<std::string>& cells) {
  return std::all_of(cells.begin(), cells.end(), [](const std::string& cell) { return cell.empty(); });
}

/// True where no cell is a number.
bool are_words(const std::vector<std::string>& cells) {
  return std::none_of(cells.begin(), cells.end(), is_measured_number);
}

/// Takes titles out that stand above all tables: they tell none apart.
void take_out_shared(std::vector<std::vector<TableTitle>>& tables) {
  std::vector<std::string> shared;
  for (const TableTitle& title : tables.front()) {
    const auto has = [&](const std::vector<TableTitle>& other) {
      return std::any_of(other.begin(), other.end(), [&](const TableTitle& one) { return one.text == title.text; });
    };
    if (std::all_of(tables.begin(), tables.end(), has)) shared.push_back(title.text);
  }
  for (std::vector<TableTitle>& table : tables) {
    std::erase_if(table, [&](const TableTitle& one) {
      return std::find(shared.begin(), shared.end(), one.text) != shared.end();
    });
  }
}

}  // namespace

/// Leaves lines aside that say the names again, and their units: files that were put together. Rows keep the number of their table.
void MeasuredText::leave_repeated_names() {
  if (header.cells.empty()) return;
  const std::string names = line_text(header.line);
  const char first = header.cells[0].empty() ? separator : header.cells[0][0];
  int table = 0;
  bool below = false;  // a line of names
  std::vector<std::string> row;
  std::erase_if(spans_, [&](Span& span) {
    span.table = table;
    const std::string_view line = std::string_view(text_).substr(span.begin, span.length);
    const bool after = std::exchange(below, false);
    const char own_first = line[std::min(line.find_first_not_of(" \""), line.size() - 1)];
    if (own_first != first && !after) return false;
    cells(span, separator, row);
    while (row.size() > header.cells.size() && row.back().empty()) row.pop_back();
    if (row == header.cells || line == names) {
      below = true;
      ++table;
    } else if (after && is_row_of_units(row)) {
      row.resize(std::max(row.size(), units.cells.size()));
      std::vector<std::string> own = units.cells;
      own.resize(row.size());
      if (row != own) {
        throw UserError(place(span.line) + fmt::format(": other units than {}: tables in one file have the same "
                                                       "columns, in the same units",
                                                       units.line > 0 ? fmt::format("in line {}", units.line)
                                                                      : "above, where no line tells them"));
      }
    } else {
      return false;
    }
    leave(span);
    return true;
  });
}

int MeasuredText::names_again() const {
  const auto below = std::find_if(spans_.begin(), spans_.end(), [](const Span& span) { return span.table > 0; });
  if (below == spans_.end()) return 0;
  const auto named = std::lower_bound(aside.begin(), aside.end(), below->line);
  return named == aside.begin() ? below->line : *(named - 1);
}

void MeasuredText::cut(std::size_t block, std::vector<std::string>& cells) const {
  const std::size_t first = blocks_[block];
  if (cells.size() <= first) {
    cells.assign(width_, "");
    return;
  }
  cells.erase(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(first));
  if (cells.size() > width_) cells.resize(width_);
}

/// Makes tables beside each other tables below each other. Returns the titles above them.
MeasuredText::Tables MeasuredText::part_beside() {
  std::size_t width = 0;
  const std::vector<std::size_t> starts = repeats_of(header.cells, width);
  if (starts.size() < 2) return {};
  Tables tables(starts.size());
  for (auto at = std::lower_bound(aside.begin(), aside.end(), header.line); at != aside.begin();) {
    const std::vector<std::string> row = line_cells(*--at);
    std::vector<std::string> own(starts.size());
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto block = std::upper_bound(starts.begin() + 1, starts.end(), c) - starts.begin() - 1;
      std::string& title = own[static_cast<std::size_t>(block)];
      if (!row[c].empty()) title += (title.empty() ? "" : ", ") + row[c];
    }
    if (own.size() - static_cast<std::size_t>(std::count(own.begin(), own.end(), "")) < 2) break;  // of the file
    for (std::size_t b = 0; b < own.size(); ++b) {
      if (!own[b].empty()) tables[b].insert(tables[b].begin(), {*at, plain_title(own[b])});
    }
  }
  std::vector<std::string> first_units = units.cells;
  blocks_ = starts, width_ = width, trailing_ = 0;
  cut(0, header.cells);
  if (!first_units.empty()) cut(0, units.cells);
  for (std::size_t b = 1; b < starts.size() && !first_units.empty(); ++b) {
    std::vector<std::string> own = first_units;
    cut(b, own);
    if (own == units.cells) continue;
    throw UserError(place(units) + ": tables beside each other have other units: write them in the same ones");
  }
  const int below = spans_.empty() ? 1 : spans_.back().table + 1;
  std::vector<Span> rows;
  std::vector<std::string> row;
  for (std::size_t b = 0; b < starts.size(); ++b) {
    for (Span span : spans_) {
      span.block = b;
      span.table += static_cast<int>(b) * below;
      cells(span, separator, row);
      if (!is_blank(row)) rows.push_back(span);
    }
  }
  spans_ = std::move(rows);
  marks.clear();
  find_marks();
  return tables;
}

/// True where most rows begin with a number: one that begins with a word and has nothing else is no row then.
bool MeasuredText::counts() const {
  std::vector<std::string> row;
  std::size_t numbers = 0;
  const std::size_t looked = std::min(spans_.size(), kLooked);
  for (std::size_t i = 0; i < looked; ++i) {
    cells(spans_[i], separator, row);
    numbers += is_measured_number(row[0]) ? 1 : 0;
  }
  return 2 * numbers > looked;
}

/// True of words that stand above a table: above names, or where rows begin with numbers. A device without readings, in a table whose rows begin
/// with names, is none.
bool MeasuredText::is_title(const std::vector<std::string>& row, bool above_names, bool counted) const {
  if (row[0].empty() || !are_words(row)) return false;
  if (above_names || row.size() == 1) return true;
  const auto numbered = [](const std::string& cell) {
    return cell.empty() || std::string_view("0123456789").find(cell.back()) != std::string_view::npos;
  };
  return counted && (row.size() != header.cells.size() || is_blank({row.begin() + 1, row.end()}) ||
                     std::all_of(row.begin(), row.end(), numbered));
}

/// Takes titles between rows out. A table begins behind them, and where the names stand again.
void MeasuredText::part_below(Tables& tables) {
  const bool counted = counts();
  std::vector<TableTitle> waiting;  // titles of the table that comes
  std::vector<Span> rows;
  std::vector<std::string> row;
  int last = 0;
  std::size_t block = 0;
  Tables out;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    Span span = spans_[i];
    if (i > 0 && span.block != spans_[i - 1].block) waiting.clear();
    cells(span, separator, row);
    const bool above_names =
        i + 1 < spans_.size() && spans_[i + 1].table != span.table && spans_[i + 1].block == span.block;
    if (is_title(row, above_names, counted)) {
      const bool first = is_blank({row.begin() + 1, row.end()});
      waiting.push_back({span.line, plain_title(first ? row[0] : line_text(span.line))});
      leave(span);
      continue;
    }
    if (!waiting.empty() && row.size() == header.cells.size() && are_words(row)) {
      throw UserError(place(span.line) + fmt::format(": names of columns that differ from those of line {}: tables in "
                                                     "one file have the same columns, in the same units",
                                                     header.line));
    }
    if (out.empty() || !waiting.empty() || span.table != last) {
      const bool first = out.empty() || span.block != block;
      out.push_back(std::exchange(waiting, {}));
      if (first && !tables.empty()) {
        out.back().insert(out.back().begin(), tables[span.block].begin(), tables[span.block].end());
      }
    }
    block = span.block;
    last = span.table;
    span.table = static_cast<int>(out.size()) - 1;
    rows.push_back(span);
  }
  tables = std::move(out);
  if (tables.size() > 1) spans_ = std::move(rows);
}

/// Takes lines above the names for titles of the first table, as many as others have.
void MeasuredText::take_titles_above(Tables& tables) {
  std::size_t most = 0;
  for (std::size_t k = 1; k < tables.size(); ++k) most = std::max(most, tables[k].size());
  for (auto at = std::lower_bound(aside.begin(), aside.end(), header.line); at != aside.begin();) {
    if (tables[0].size() >= most) return;
    --at;
    tables[0].insert(tables[0].begin(), {*at, plain_title(line_text(*at))});
  }
}

/// Gives names that stand twice the titles above them: "Device 1" above two columns of four.
void MeasuredText::name_by_titles() {
  const auto above = std::lower_bound(aside.begin(), aside.end(), header.line);
  const auto twice = [&](const std::string& name) {
    return !name.empty() && std::count(header.cells.begin(), header.cells.end(), name) > 1;
  };
  if (above == aside.begin() || std::none_of(header.cells.begin(), header.cells.end(), twice)) return;
  const std::vector<std::string> row = line_cells(*(above - 1));
  std::vector<std::string> names = header.cells;
  std::string title;
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (c < row.size() && !row[c].empty()) title = row[c];
    if (twice(header.cells[c]) && !title.empty()) names[c] = title + " " + names[c];
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto same = std::adjacent_find(sorted.begin(), sorted.end(),
                                       [](const auto& a, const auto& b) { return !a.empty() && a == b; });
  if (same == sorted.end()) header.cells = std::move(names);
}

std::vector<std::vector<TableTitle>> MeasuredText::part_tables() {
  if (header.cells.size() < 2 || spans_.empty()) return {};
  Tables tables = part_beside();
  const bool beside = !tables.empty();
  if (!beside) name_by_titles();
  part_below(tables);
  if (tables.size() < 2) return {};
  if (!beside) take_titles_above(tables);
  take_out_shared(tables);
  titles_.assign(tables.size(), {});
  titled_ = header.cells.size();
  return tables;
}

std::size_t MeasuredText::label_tables(const std::string& name, const std::vector<std::string>& cells) {
  for (std::size_t k = 0; k < titles_.size(); ++k) titles_[k].push_back(cells[k]);
  header.cells.push_back(name);
  ++added_;
  ++labels_;
  if (!units.cells.empty()) units.cells.resize(header.cells.size());
  return header.cells.size() - 1;
}

}  // namespace nudge
