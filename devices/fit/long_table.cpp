// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/long_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/inflate.hpp"

namespace nudge {
namespace {

/// Largest conductance of a device: a filament of one atom has 78 uS, and 0.1 S is 10 ohm, a wire with its contacts.
constexpr double kMostConductance_S = 0.1;

/// Known column at a place of the header, and the factor on its numbers.
struct HeaderPlace {
  std::size_t column = 0;
  double factor = 1;
};

std::vector<std::string> names_of(const std::vector<LongColumn>& known) {
  std::vector<std::string> names;
  for (const LongColumn& column : known) names.push_back(column.name);
  return names;
}

HeaderPlace header_place(const std::string& cell, const std::vector<LongColumn>& known, const std::string& where) {
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (cell == known[k].name) return {k, 1};
    if (known[k].unit == Unit::none || !cell.starts_with(known[k].name + "_")) continue;
    const Quantity q = read_quantity("1 " + cell.substr(known[k].name.size() + 1), known[k].unit);
    if (!q.problem.empty()) csv_fail(where, fmt::format("column \"{}\": {}", cell, q.problem));
    return {k, q.value};
  }
  csv_fail(where, fmt::format("unknown column \"{}\" (known: {})", cell, fmt::join(names_of(known), ", ")));
}

}  // namespace

std::vector<TextLine> table_lines(std::string_view text) {
  std::vector<TextLine> lines;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos && line.front() != '#') lines.push_back({number, line});
  }
  return lines;
}

std::vector<std::string> split_table_line(std::string_view line, char separator) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t end = line.find(separator);
    std::string_view cell = line.substr(0, end);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
    cells.emplace_back(cell);
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

double long_table_number(const std::string& cell, const LongColumn& column, double factor, const std::string& where) {
  char* end = nullptr;
  const double number = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != 0) {
    csv_fail(where, fmt::format("{} \"{}\" is not a number (one unit for the whole column stands in its name, as "
                                "time_ms or conductance_uS)",
                                column.name, cell));
  }
  const double value = factor * number;
  if (!std::isfinite(value)) csv_fail(where, fmt::format("{} \"{}\" is not a finite number", column.name, cell));
  if (column.unit == Unit::second && value < 0) {
    csv_fail(where, fmt::format("{} {} is negative (must be >= 0)", column.name, cell));
  }
  // A reader's offset may make a small conductance negative: technology C has such reads.
  if (column.unit == Unit::siemens && std::abs(value) > kMostConductance_S) {
    csv_fail(where, fmt::format("{} {:g} S is that of a wire (name the column {}_uS if these are microsiemens)",
                                column.name, value, column.name));
  }
  return value;
}

LongTable parse_long_table(std::string_view text, const std::string& file, const std::vector<LongColumn>& known,
                           const std::vector<std::string>& bare) {
  LongTable table{file, {}, std::vector<std::vector<double>>(known.size())};
  std::vector<HeaderPlace> places;
  char separator = ',';
  for (const auto& [number, line] : table_lines(text)) {
    const std::string where = fmt::format("{}:{}", file, number);
    if (places.empty()) {
      separator = line.find('\t') == std::string_view::npos ? ',' : '\t';
      const std::vector<std::string> first = split_table_line(line, separator);
      const bool numbers = std::all_of(first.begin(), first.end(), csv_is_number);
      if (numbers && first.size() != bare.size()) {
        csv_fail(where, fmt::format("{} columns without a header (a table without one has {}: {})", first.size(),
                                    bare.size(), fmt::join(bare, ", ")));
      }
      std::vector<bool> there(known.size());
      for (const std::string& cell : numbers ? bare : first) {
        places.push_back(header_place(cell, known, where));
        if (there[places.back().column]) csv_fail(where, fmt::format("column \"{}\" occurs twice", cell));
        there[places.back().column] = true;
      }
      for (std::size_t k = 0; k < known.size(); ++k) {
        if (!known[k].required || there[k]) continue;
        csv_fail(where,
                 fmt::format("column \"{}\" is missing (known: {})", known[k].name, fmt::join(names_of(known), ", ")));
      }
      if (!numbers) continue;
    }
    const std::vector<std::string> cells = split_table_line(line, separator);
    if (cells.size() != places.size()) {
      csv_fail(where, fmt::format("{} cells, the table has {} columns", cells.size(), places.size()));
    }
    table.lines.push_back(number);
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const HeaderPlace& at = places[c];
      table.columns[at.column].push_back(long_table_number(cells[c], known[at.column], at.factor, where));
    }
  }
  if (table.lines.empty()) {
    csv_fail(file, fmt::format("no measurements (columns: {})", fmt::join(names_of(known), ", ")));
  }
  return table;
}

std::string read_table_text(const std::string& path) { return inflated_if_gzip(read_csv_text(path), path); }

namespace {

std::string trimmed(std::string_view text) { return boost::trim_copy_if(std::string(text), boost::is_any_of(" \t\r")); }

}  // namespace

std::vector<CsvRow> csv_rows(std::string_view text) {
  std::vector<CsvRow> rows;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int number = 1; !text.empty();) {
    const std::string_view start = text;
    const std::string content = trimmed(text.substr(0, text.find('\n')));
    if (content.empty() || content[0] == '#') {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    } else {
      rows.push_back({number, read_csv_record(text)});
      for (std::string& cell : rows.back().cells) cell = trimmed(cell);
    }
    const std::string_view taken = start.substr(0, start.size() - text.size());
    number += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
  }
  return rows;
}

void csv_fail(const std::string& where, const std::string& what) { throw UserError(where + ": " + what); }

double cell_number(const std::string& text, const std::string& unit, Unit of, const char* name,
                   const std::string& where) {
  const bool bare = text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0;
  const Quantity q = read_quantity(bare ? text + unit : text, of);
  if (!q.problem.empty()) csv_fail(where, fmt::format("{} \"{}\": {}", name, text, q.problem));
  if (!std::isfinite(q.value)) csv_fail(where, fmt::format("{} \"{}\" is not a finite number", name, text));
  return q.value;
}

double csv_conductance(const std::string& text, const std::string& unit, const std::string& where) {
  const double value = cell_number(text, unit, Unit::siemens, "conductance", where);
  if (value < 0)
    csv_fail(where, fmt::format("conductance {:g} S is negative (a passive device has a conductance >= 0)", value));
  if (value > kMostConductance_S) {
    csv_fail(
        where,
        fmt::format(
            "conductance {:g} S is that of a wire (did you mean {:g} uS? Write the unit into the cell, or name the "
            "column conductance_uS)",
            value, value));
  }
  return value;
}

bool csv_is_number(const std::string& cell) {
  if (cell.empty()) return false;
  const std::string word = cell.substr(0, 3);
  const bool no_number = std::equal(word.begin(), word.end(), "nan", [](char a, char b) { return (a | 0x20) == b; });
  return std::isdigit(static_cast<unsigned char>(cell[0])) != 0 ||
         (cell.size() > 1 && std::string_view("+-.").find(cell[0]) != std::string_view::npos) ||
         (word.size() == 3 && no_number);
}

std::string read_csv_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (stream.is_open() && !stream.bad() && std::filesystem::is_regular_file(path)) return "";
    throw UserError(path + ": cannot be read (is it a file, and does it exist?)");
  }
  return read_bounded(stream, path, expected_bytes(path));
}

}  // namespace nudge
