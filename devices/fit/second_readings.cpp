// SPDX-License-Identifier: Apache-2.0
// Columns that may stand for a conductance, and those that stand beside one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "devices/fit/column_words.hpp"
#include "devices/fit/long_table.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {

ConductanceColumns add_conductance(std::vector<LongColumn>& known) {
  const auto place = [&](const char* name, Unit unit) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k].name == name) return k;
    }
    known.push_back({name, unit, false});
    return known.size() - 1;
  };
  return {place("conductance", Unit::siemens), place("resistance", Unit::ohm), place("current", Unit::ampere),
          place("read_voltage", Unit::volt)};
}

namespace {

/// Number of a cell in SI units; nothing: it is no plain number above 0.
std::optional<double> plain_value(const CsvRow& row, const FoundColumns& found, std::size_t k) {
  const std::string& cell = row.cells.at(found.place[k]);
  char* end = nullptr;
  const double value = found.factor[k] * std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != 0 || !std::isfinite(value) || value == 0 || is_overflow(cell)) return {};
  return std::abs(value);
}

/// Conductance that a column tells by itself or with its read voltage.
std::optional<double> told_by(const CsvRow& row, const FoundColumns& found, const ConductanceColumns& at,
                              std::size_t k) {
  const std::optional<double> own = plain_value(row, found, k);
  if (!own || k == at.conductance) return own;
  if (k == at.resistance) return 1 / *own;
  const std::optional<double> volts = plain_value(row, found, at.read_voltage);
  return volts ? std::optional(*own / *volts) : std::nullopt;
}

void refuse_contradiction(const MeasuredText& text, const FoundColumns& found, const ConductanceColumns& at,
                          std::size_t first, std::size_t second) {
  constexpr double most = 3;  // a curved device has other conductances at other voltages; a slip of a unit is 1000
  std::vector<double> ratios;
  CsvRow row;
  std::string where, one, other;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (row.cells.size() != text.header.cells.size()) return;  // told where rows are read
    const auto a = told_by(row, found, at, first), b = told_by(row, found, at, second);
    if (!a || !b) continue;
    ratios.push_back(std::abs(std::log(*b / *a)));
    if (where.empty() && ratios.back() > std::log(most)) {
      where = text.place(row);
      one = fmt::format("\"{}\" of column {} is {:.4g} uS", row.cells[found.place[first]],
                        text.header.cells[found.place[first]], 1e6 * *a);
      other = fmt::format("\"{}\" of column {} is {:.4g} uS", row.cells[found.place[second]],
                          text.header.cells[found.place[second]], 1e6 * *b);
    }
  }
  if (ratios.empty() || median(ratios) <= std::log(most)) return;
  csv_fail(where,
           fmt::format("{}, but {}: the unit of one is another. Leave the wrong one aside: --columns \"aside={}\", "
                       "or \"aside={}\"",
                       one, other, text.header.cells[found.place[first]], text.header.cells[found.place[second]]));
}

}  // namespace

void leave_second_readings(const MeasuredText& text, const std::vector<LongColumn>& known, FoundColumns& found,
                           Understood& said) {
  const auto place = [&](const char* name) {
    const auto own = std::find_if(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == name; });
    return static_cast<std::size_t>(own - known.begin());
  };
  const ConductanceColumns at{place("conductance"), place("resistance"), place("current"), place("read_voltage")};
  if (at.conductance == known.size() || at.resistance == known.size() || at.current == known.size()) return;
  std::optional<std::size_t> first;
  for (const std::size_t k : {at.conductance, at.resistance, at.current}) {
    if (!found.has(k)) continue;
    if (!first) {
      first = k;
      continue;
    }
    if (k != at.current || found.has(at.read_voltage)) refuse_contradiction(text, found, at, *first, k);
    const std::string name = text.header.cells[found.place[k]];
    said.notes.push_back(
        fmt::format("column {} is not used: {} tells the conductances", name, text.header.cells[found.place[*first]]));
    said.left_columns.push_back(name);
    std::erase_if(said.columns, [&](const Understood::Column& one) { return one.name == name; });
    found.place[k] = FoundColumns::absent;
  }
}

void refuse_untold_unit(const MeasuredText& text, const FoundColumns& found, const ConductanceColumns& at,
                        double most_S, int line) {
  if (std::abs(most_S) <= kMostUntold_S) return;
  struct Kind {
    std::size_t column;
    const char *key, *si, *other;
  };
  for (const Kind& own : {Kind{at.conductance, "conductance", "S", "uS"},
                          Kind{at.resistance, "resistance", "Ohm", "kOhm"}, Kind{at.current, "current", "A", "uA"}}) {
    if (!found.has(own.column)) continue;
    if (!found.unit[own.column].empty()) return;
    const std::string& name = text.header.cells[found.place[own.column]];
    csv_fail(text.place(line),
             fmt::format("column {0} has no unit. In {1} this is a conductance of {2:.3g} mS: say --columns \"{3}={0} "
                         "{1}\", or which unit it is, as \"{3}={0} {4}\"",
                         name, own.si, 1e3 * std::abs(most_S), own.key, own.other));
  }
}

namespace {

/// Unit of a line such as "unit: mS" or "Units,mS"; empty: it is none.
std::string unit_of_line(std::string line) {
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return std::string_view(":=,;\t#()[]\"").find(c) != std::string_view::npos; }, ' ');
  std::vector<std::string> words;
  boost::trim(line);
  boost::split(words, line, boost::is_any_of(" "), boost::token_compress_on);
  const auto names_unit = [](const std::string& word) {
    return boost::iequals(word, "unit") || boost::iequals(word, "units");
  };
  if (words.size() > 6 || std::none_of(words.begin(), words.end(), names_unit)) return "";
  const auto unit = std::find_if(words.rbegin(), words.rend(), is_unit_name);
  return unit == words.rend() ? "" : named_unit("x (" + *unit + ")").unit;
}

}  // namespace

void refuse_told_units(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found,
                       std::vector<std::pair<std::string, int>> told_units) {
  std::vector<int> lines = text.comment_lines();
  lines.insert(lines.end(), text.aside.begin(), text.aside.end());
  for (const int line : lines) told_units.emplace_back(unit_of_line(text.line_text(line)), line);
  for (const auto& [unit, line] : told_units) {
    if (unit.empty()) continue;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k].unit == Unit::none || !found.has(k)) continue;
      const Quantity told = read_quantity("1 " + unit, known[k].unit);
      const double own = found.unit[k].empty() ? 0 : found.factor[k];
      if (!told.problem.empty() || own == told.value) continue;
      const std::string& name = text.header.cells[found.place[k]];
      csv_fail(
          text.place(line),
          fmt::format("this line tells {}, and column {} {}: say which with --columns \"{}={} {}\"", unit, name,
                      found.unit[k].empty() ? "has no unit" : "is in " + found.unit[k], known[k].name, name, unit));
    }
  }
}

void fail_missing(const MeasuredText& text, const std::vector<LongColumn>& known, const std::string& needed) {
  const auto own = std::find_if(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == needed; });
  std::string instead;
  for (const std::string& name : text.header.cells) {
    const NamedUnit cell = named_unit(name);
    if (own == known.end() || cell.unit.empty() || !rank_of(cell.name, *own)) continue;
    instead = fmt::format(" \"{}\": {}.", name, read_quantity("1 " + cell.unit, own->unit).problem);
  }
  csv_fail(
      text.place(text.header),
      fmt::format("column \"{0}\" is missing.{1} The table has: {2}. Say which it is with --columns \"{0}=NAME\"{3}. "
                  "Known: {4}",
                  needed, instead, fmt::join(text.header.cells, ", "),
                  needed == "conductance"
                      ? ", where each device has its own with \"conductance=NAME+NAME UNIT\". Kilohms: "
                        "\"resistance=NAME kOhm\", currents: \"current=NAME uA\""
                      : "",
                  fmt::join(column_names(known), ", ")));
}

}  // namespace nudge
