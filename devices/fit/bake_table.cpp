// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_bake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "devices/fit/long_table.hpp"
#include "devices/fit/outlying_readings.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double one_time = 1.5;
constexpr std::size_t cells_of_group = 200;
constexpr std::size_t most_groups = 32;

enum Columns : std::size_t {
  cell_column,
  time_column,
  conductance_column,
  start_column,
  level_column,
  nominal_column,
  celsius_column,
  kelvin_column
};

std::vector<LongColumn> bake_columns(bool temperatures) {
  std::vector<LongColumn> columns = {{"cell", Unit::none, true},           {"time", Unit::second, true},
                                     {"conductance", Unit::siemens, true}, {"start", Unit::siemens, false},
                                     {"level", Unit::none, false},         {"nominal", Unit::second, false}};
  if (temperatures) {
    columns.push_back({"temperature_C", Unit::none, false});
    columns.push_back({"temperature_K", Unit::none, false});
  }
  return columns;
}

const std::vector<std::string> bare_bake = {"cell", "time", "resistance", "conductance", "temperature_C"};
const std::vector<std::string> bare_relaxation = {"cell",  "time",  "resistance", "conductance",
                                                  "start", "level", "nominal"};

struct BakeRow {
  std::size_t file = 0;
  double cell = 0, temperature_K = 0, time_s = 0, conductance_S = 0, start_S = 0, level = 0;
  std::size_t point = 0;
  int line = 0;
};

double temperature_of(const LongTable& table, std::size_t i) {
  const bool celsius = !table.columns[celsius_column].empty();
  const double value = table.columns[celsius ? celsius_column : kelvin_column][i];
  const double kelvin = celsius ? value + zero_celsius_K : value;
  if (kelvin > 0) return kelvin;
  csv_fail(fmt::format("{}:{}", table.file, table.lines[i]),
           fmt::format("temperature {:g} {} (must be above 0 K)", value, celsius ? "C" : "K"));
}

/// Start of each row: as given, else the earliest measurement of its cell at its temperature, whose row is then at 0 s if others
/// follow.
void find_starts(const LongTable& table, std::vector<BakeRow>& rows, std::size_t first) {
  if (!table.columns[start_column].empty()) {
    for (std::size_t i = first; i < rows.size(); ++i) rows[i].start_S = table.columns[start_column][i - first];
    return;
  }
  std::map<std::pair<double, double>, const BakeRow*> earliest;
  std::map<std::pair<double, double>, int> count;
  for (std::size_t i = first; i < rows.size(); ++i) {
    const std::pair cell{rows[i].cell, rows[i].temperature_K};
    const auto [at, fresh] = earliest.emplace(cell, &rows[i]);
    ++count[cell];
    if (!fresh && rows[i].time_s < at->second->time_s) at->second = &rows[i];
  }
  for (std::size_t i = first; i < rows.size(); ++i) {
    rows[i].start_S = earliest.at({rows[i].cell, rows[i].temperature_K})->conductance_S;
  }
  for (const auto& [cell, row] : earliest) {
    if (count[cell] > 1) rows[static_cast<std::size_t>(row - rows.data())].time_s = 0;
  }
}

/// Appends the rows of a table; returns whether it names levels.
bool add_rows(const LongTable& table, std::size_t file, double reference_K, std::vector<BakeRow>& rows) {
  const std::size_t first = rows.size();
  if (file == 0 && table.columns[celsius_column].empty() == table.columns[kelvin_column].empty()) {
    csv_fail(fmt::format("{}:{}", table.file, table.lines.front()),
             "one of the columns temperature_C and temperature_K is needed");
  }
  const bool named = !table.columns[nominal_column].empty();
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    BakeRow row;
    row.file = file;
    row.cell = table.columns[cell_column][i];
    row.temperature_K = file == 0 ? temperature_of(table, i) : reference_K;
    row.time_s = table.columns[named ? nominal_column : time_column][i];
    row.conductance_S = table.columns[conductance_column][i];
    row.line = table.lines[i];
    if (!table.columns[level_column].empty()) row.level = table.columns[level_column][i];
    rows.push_back(row);
  }
  find_starts(table, rows, first);
  return !table.columns[level_column].empty();
}

/// Puts rows with a time into points; the others have the number of points.
std::vector<BakePoint> find_points(std::vector<BakeRow>& rows) {
  std::vector<BakeRow*> sorted;
  for (BakeRow& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const BakeRow* a, const BakeRow* b) {
    return std::tie(a->temperature_K, a->time_s) < std::tie(b->temperature_K, b->time_s);
  });
  std::vector<std::vector<BakeRow*>> groups;
  for (BakeRow* row : sorted) {
    if (row->time_s <= 0) continue;
    const bool new_group = groups.empty() || groups.back().back()->temperature_K < row->temperature_K ||
                           groups.back().back()->time_s * one_time < row->time_s;
    if (new_group) groups.emplace_back();
    groups.back().push_back(row);
  }
  for (BakeRow& row : rows) row.point = groups.size();
  std::vector<BakePoint> points;
  for (const auto& group : groups) {
    for (BakeRow* row : group) row->point = points.size();
    points.push_back({group.front()->temperature_K, group[group.size() / 2]->time_s});
  }
  return points;
}

/// Puts rows into levels: groups of equal size by start.
void find_levels(std::vector<BakeRow>& rows, std::size_t points) {
  std::vector<std::size_t> cells(points);
  std::vector<double> sorted;
  for (const BakeRow& row : rows) {
    if (row.point >= points) continue;
    ++cells[row.point];
    sorted.push_back(row.start_S);
  }
  std::sort(sorted.begin(), sorted.end());
  const std::size_t fewest = cells.empty() ? 0 : *std::min_element(cells.begin(), cells.end());
  const std::size_t groups = std::clamp<std::size_t>(fewest / cells_of_group, 1, most_groups);
  for (BakeRow& row : rows) {
    const auto rank =
        static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), row.start_S) - sorted.begin());
    row.level = static_cast<double>(std::min(rank * groups / std::max<std::size_t>(sorted.size(), 1), groups - 1));
  }
}

double mean_start(const std::vector<BakedCells>& level) {
  double sum = 0;
  double n = 0;
  for (const BakedCells& cells : level) {
    for (const double start : cells.starts_S) sum += start;
    n += static_cast<double>(cells.starts_S.size());
  }
  return sum / n;
}

}  // namespace

BakeData parse_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files, double reference_K,
                    TableLook& look) {
  std::vector<BakeRow> rows;
  bool levels = true;
  for (std::size_t f = 0; f < texts.size(); ++f) {
    const LongTable table =
        parse_long_table(texts[f], files[f], bake_columns(f == 0), f == 0 ? bare_bake : bare_relaxation, look);
    levels = add_rows(table, f, reference_K, rows) && levels;
  }
  BakeData data;
  data.points = find_points(rows);
  if (data.points.empty()) csv_fail(files.front(), "no measurement after a time above 0 s");
  if (data.points.front().temperature_K == data.points.back().temperature_K) {
    csv_fail(files.front(),
             fmt::format("one temperature, {:g} K (at least 2 are needed)", data.points[0].temperature_K));
  }
  if (!levels) find_levels(rows, data.points.size());
  std::vector<GroupedReading> readings;
  for (const BakeRow& row : rows)
    readings.push_back({row.level, row.conductance_S, row.start_S, files[row.file], row.line});
  check_negative(readings);
  note_outliers(readings, look.understood.back().notes);
  std::map<double, std::vector<BakedCells>> all;
  for (const BakeRow& row : rows) {
    if (row.point >= data.points.size()) continue;
    std::vector<BakedCells>& level = all[row.level];
    level.resize(data.points.size());
    level[row.point].starts_S.push_back(row.start_S);
    level[row.point].changes_S.push_back(row.conductance_S - row.start_S);
  }
  for (auto& [name, level] : all) {
    std::size_t fewest = rows.size();
    std::size_t measurements = 0;
    for (const BakedCells& cells : level) {
      fewest = std::min(fewest, cells.starts_S.size());
      measurements += cells.starts_S.size();
    }
    if (fewest < least_baked_cells) {
      data.left_out += measurements;
    } else {
      data.cells.push_back(std::move(level));
    }
  }
  if (data.cells.empty()) {
    csv_fail(files.front(), fmt::format("no level has {} cells at each of the {} temperatures and times",
                                        least_baked_cells, data.points.size()));
  }
  std::stable_sort(data.cells.begin(), data.cells.end(),
                   [](const auto& a, const auto& b) { return mean_start(a) < mean_start(b); });
  return data;
}

}  // namespace nudge
