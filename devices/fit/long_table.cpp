// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/long_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "devices/fit/table_times.hpp"
#include "sim/base/bounded_read.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/time_stamp.hpp"
#include "sim/io/unpacked.hpp"

namespace nudge {

double long_table_number(const std::string& cell, const LongColumn& column, double factor, const std::string& where) {
  if (is_overflow(cell)) {
    csv_fail(where, fmt::format("{} \"{}\" is {}: there is no reading (take the row out)", column.name, cell,
                                is_no_reading(cell) ? "not a number" : "an instrument's overflow"));
  }
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
  if (column.unit == Unit::siemens && std::abs(value) > kMostConductance_S) {
    csv_fail(where, fmt::format("{} {:g} S is that of a wire (name the column {}_uS if these are microsiemens)",
                                column.name, value, column.name));
  }
  if (column.unit == Unit::ohm && value != 0 && std::abs(value) * kMostConductance_S < 1) {
    csv_fail(where, fmt::format("{} {:g} Ohm is that of a wire (name the column {}_kOhm if these are kiloohms)",
                                column.name, value, column.name));
  }
  return value;
}

void check_negative(const std::vector<GroupedReading>& readings) {
  std::map<double, std::vector<double>> groups;
  for (const GroupedReading& one : readings) groups[one.group].push_back(one.conductance_S - one.start_S);
  for (auto& [name, changes] : groups) std::sort(changes.begin(), changes.end());
  for (const GroupedReading& one : readings) {
    if (one.conductance_S >= 0) continue;
    const std::vector<double>& sorted = groups.at(one.group);
    const double median = sorted[sorted.size() / 2], low = sorted[std::min(sorted.size() / 100 + 1, sorted.size() - 1)];
    if (one.start_S + median - one.conductance_S <= 3 * (median - low)) continue;
    csv_fail(
        fmt::format("{}:{}", one.file, one.line),
        fmt::format("conductance {:.4g} uS is negative in a cell that began at {:.4g} uS: no offset of a reader does "
                    "that (take the row out)",
                    1e6 * one.conductance_S, 1e6 * one.start_S));
  }
}

namespace {

/// Numbers of devices and cells that are named by words, -1, -2, ... in the order of the file.
class NamesAsNumbers {
 public:
  static bool may_be_named(const std::string& column) {
    return column == "cell" || column == "device" || column == "row" || column == "column";
  }
  double of(const std::string& name) {
    return -static_cast<double>(numbers_.emplace(name, numbers_.size() + 1).first->second);
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// Word before the numbers of all cells of a column, "WL" of WL0, WL1, ...; empty: they have none, or other ones.
std::string numbered_word(const MeasuredText& text, std::size_t c) {
  std::string word;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (c >= row.cells.size()) return "";
    const std::string& cell = row.cells[c];
    const std::string own = cell.substr(0, cell.find_last_not_of("0123456789") + 1);
    if (own.empty() || own.size() == cell.size() || (i > 0 && own != word)) return "";
    word = own;
  }
  return word;
}

/// Appends the numbers of one row, in SI units; dates as seconds since 1970.
void add_row(const CsvRow& row, const std::string& where, const std::vector<LongColumn>& known,
             const FoundColumns& found, const std::vector<DateOrder>& orders, const std::vector<std::string>& words,
             NamesAsNumbers& names, std::vector<std::vector<double>>& columns) {
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (!found.has(k)) continue;
    const std::string& cell = row.cells[found.place[k]];
    if (!words[k].empty()) {
      columns[k].push_back(std::strtod(cell.c_str() + words[k].size(), nullptr));
      continue;
    }
    if (known[k].word != nullptr) {
      const std::optional<double> number = known[k].word(cell);
      if (!number) csv_fail(where, fmt::format("{} \"{}\" is none of its words", known[k].name, cell));
      columns[k].push_back(*number);
      continue;
    }
    if (NamesAsNumbers::may_be_named(known[k].name) && !cell.empty() && !is_measured_number(cell)) {
      columns[k].push_back(names.of(cell));
      continue;
    }
    const std::optional<double> stamp =
        known[k].unit == Unit::second ? date_of(cell, found.unit[k], orders[k]) : std::nullopt;
    if (known[k].unit == Unit::second && !stamp && date_front(cell)) {
      csv_fail(where, fmt::format("{} \"{}\" is a date that nudge does not read (write 2026-01-31 14:05:09)",
                                  known[k].name, cell));
    }
    if (found.reciprocal[k]) {
      columns[k].push_back(1 / long_table_number(cell, {known[k].name, Unit::ohm}, found.factor[k], where));
      if (!std::isfinite(columns[k].back())) csv_fail(where, fmt::format("{} 0 Ohm has no conductance", known[k].name));
      continue;
    }
    columns[k].push_back(stamp ? *stamp : long_table_number(cell, known[k], found.factor[k], where));
  }
}

/// Appends the cells of a row with an overflow: infinity there, NaN where there is no number.
void add_missing(const CsvRow& row, const std::vector<LongColumn>& known, const FoundColumns& found,
                 NamesAsNumbers& names, std::vector<std::vector<double>>& columns) {
  columns.resize(known.size());
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (!found.has(k)) continue;
    const std::string& cell = row.cells[found.place[k]];
    double value = std::numeric_limits<double>::quiet_NaN();
    if (known[k].word != nullptr) {
      value = known[k].word(cell).value_or(value);
    } else if (is_no_reading(cell)) {
    } else if (is_overflow(cell)) {
      value = std::numeric_limits<double>::infinity();
    } else if (is_measured_number(cell)) {
      value = found.factor[k] * std::strtod(cell.c_str(), nullptr);
    } else if (NamesAsNumbers::may_be_named(known[k].name) && !cell.empty()) {
      value = names.of(cell);
    }
    columns[k].push_back(value);
  }
}

/// True of a row with an overflow, or without its reading: nothing or a dash stands for it.
bool has_no_reading(const CsvRow& row, const std::vector<LongColumn>& known, const FoundColumns& found) {
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (!found.has(k)) continue;
    const std::string& cell = row.cells[found.place[k]];
    const bool reading = known[k].name == "conductance" || known[k].name == "resistance" || known[k].name == "current";
    if (is_overflow(cell) || (reading && is_missing_reading(cell))) return true;
  }
  return false;
}

/// Puts conductances from resistances, or from currents and the voltages at which they were read.
void derive_conductance(const ConductanceColumns& at, double read_voltage_V, LongTable& table) {
  std::vector<double>& g = table.columns[at.conductance];
  const std::vector<double>&r = table.columns[at.resistance], &i = table.columns[at.current],
        &v = table.columns[at.read_voltage];
  if (read_voltage_V != 0 && i.empty()) {
    throw UserError(fmt::format("--read-voltage is for a column of currents, and none of {} is read", table.file));
  }
  if (!g.empty() || (r.empty() && i.empty())) return;
  for (std::size_t n = 0; n < table.lines.size(); ++n) {
    const std::string where = fmt::format("{}:{}", table.file, table.lines[n]);
    const double volts = v.empty() ? read_voltage_V : v[n];
    if (r.empty() && v.empty() && volts == 0) {
      csv_fail(where, "at which voltage was the current read? (a column read_voltage, or --read-voltage)");
    }
    const double value = r.empty() ? i[n] / volts : 1 / r[n];
    if (!std::isfinite(value))
      csv_fail(where, fmt::format("{} 0 has no conductance", r.empty() ? "read_voltage" : "resistance"));
    if (std::abs(value) > kMostConductance_S)
      csv_fail(where, fmt::format("conductance {:g} S is that of a wire", value));
    g.push_back(value);
  }
}

}  // namespace

LongTable parse_long_table(std::string_view bytes, const std::string& file, std::vector<LongColumn> known,
                           const std::vector<std::string>& bare, TableLook& look) {
  const bool conductances = place_among(known, "conductance") < known.size();
  const ConductanceColumns at = conductances ? add_conductance(known) : ConductanceColumns{};
  if (place_among(known, "time") < known.size()) known.push_back({"programming_time", Unit::second, false});
  MeasuredText text = read_measured_text(bytes, file);
  take_commented_names(text, known);
  if (text.header.cells.empty() && !text.empty()) {
    text.refuse_two_readings();
    const CsvRow first = text.row(0);
    if (first.cells.size() != bare.size() && !look.columns.empty()) {
      name_by_place(text);
    } else if (first.cells.size() != bare.size()) {
      csv_fail(text.place(first), fmt::format("{} columns without a header (a table without one has {}: {})",
                                              first.cells.size(), bare.size(), fmt::join(bare, ", ")) +
                                      ". Name them above the first row, or say what they hold: --columns "
                                      "\"time=COL2 s,g=COL3 uS\"");
    } else {
      text.header.cells = bare;
    }
  }
  if (text.header.cells.empty())
    csv_fail(file, fmt::format("no measurements (columns: {})", fmt::join(column_names(known), ", ")));
  const FoundColumns found = find_columns(text, known, look);
  refuse_calendar_days(text, known, found);
  refuse_times_of_day(text, known, found);
  const std::vector<DateOrder> orders = date_orders(text, known, found, look.understood.back());
  LongTable table{file, {}, std::vector<std::vector<double>>(known.size())};
  std::vector<std::string> words(known.size());
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (found.has(k) && (known[k].name == "row" || known[k].name == "column"))
      words[k] = numbered_word(text, found.place[k]);
  }
  NamesAsNumbers names;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (row.cells.size() != text.header.cells.size()) {
      csv_fail(text.place(row),
               fmt::format("{} cells, the table has {} columns", row.cells.size(), text.header.cells.size()));
    }
    if (has_no_reading(row, known, found)) {
      look.understood.back().missing_lines.push_back(row.line);
      add_missing(row, known, found, names, table.missing);
      continue;
    }
    table.lines.push_back(row.line);
    add_row(row, text.place(row), known, found, orders, words, names, table.columns);
  }
  if (table.lines.empty()) {
    csv_fail(file, fmt::format("no measurements (columns: {})", fmt::join(column_names(known), ", ")));
  }
  take_clocks(known, table, look.understood.back());
  count_from_programming(known, table, look.understood.back());
  if (!conductances) return table;
  derive_conductance(at, look.read_voltage_V, table);
  const std::vector<double>& g = table.columns[at.conductance];
  const auto size = [](double a, double b) { return std::abs(a) < std::abs(b); };
  const auto most = std::max_element(g.begin(), g.end(), size);
  if (most != g.end()) {
    refuse_untold_unit(text, found, at, *most, table.lines[static_cast<std::size_t>(most - g.begin())]);
  }
  return table;
}

void refuse_twice(const std::vector<std::string>& paths, const std::vector<std::string>& texts) {
  for (std::size_t a = 0; a < paths.size(); ++a) {
    for (std::size_t b = a + 1; b < paths.size(); ++b) {
      if (texts[a] != texts[b] || texts[a].empty()) continue;
      throw UserError(
          paths[a] == paths[b]
              ? fmt::format("{}: the same file is given twice. Its measurements would count twice", paths[a])
              : fmt::format("{}, {}: both hold the same bytes. Its measurements would count twice: give "
                            "the other file",
                            paths[a], paths[b]));
    }
  }
}

std::string read_table_text(const std::string& path) { return unpacked(read_csv_text(path), path); }

void csv_fail(const std::string& where, const std::string& what) { throw UserError(where + ": " + what); }

double cell_number(const std::string& text, const std::string& unit, Unit of, const char* name,
                   const std::string& where) {
  if (is_overflow(text)) {
    csv_fail(where, fmt::format("{} \"{}\" is an instrument's overflow: there is no reading (take the record out)",
                                name, text));
  }
  const bool bare = text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0;
  const Quantity q = read_quantity(bare ? text + " " + unit : text, of);
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

std::string read_csv_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (stream.is_open() && !stream.bad() && std::filesystem::is_regular_file(path)) return "";
    throw UserError(path + ": cannot be read (is it a file, and does it exist?)");
  }
  return read_bounded(stream, path, expected_bytes(path));
}

}  // namespace nudge
