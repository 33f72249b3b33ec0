// SPDX-License-Identifier: Apache-2.0
// Files of pulses as other simulators keep them.
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>

#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

/// Conversion of a cell to siemens; `where` names its place for errors.
using Convert = std::function<double(const std::string& cell, const std::string& where)>;

double finite_number(const std::string& cell, const std::string& where) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (*end != 0 || !std::isfinite(value)) csv_fail(where, fmt::format("\"{}\" is not a finite number", cell));
  return value;
}

/// Columns of a table from the first that counts, each up to its first empty cell.
std::vector<std::vector<double>> columns_of(const MeasuredText& text, std::size_t first, const Convert& convert) {
  const std::size_t width = text.header.cells.empty() ? text.row(0).cells.size() : text.header.cells.size();
  std::vector<std::vector<double>> columns(width);
  std::vector<int> ended(width, 0);  // line of the first empty cell
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const std::string where = text.place(row);
    if (row.cells.size() != width)
      csv_fail(where, fmt::format("{} cells, the first row has {}", row.cells.size(), width));
    for (std::size_t c = first; c < width; ++c) {
      if (row.cells[c].empty()) {
        if (ended[c] == 0) ended[c] = row.line;
      } else if (ended[c] > 0) {
        csv_fail(where,
                 fmt::format("column {} goes on behind an empty cell in line {} (every pulse must have its value; "
                             "cells are empty only where a column has ended)",
                             c + 1, ended[c]));
      } else {
        columns[c].push_back(convert(row.cells[c], where));
      }
    }
  }
  return columns;
}

PulseRecord joined(const std::vector<double>& up, const std::vector<double>& down) {
  PulseRecord record{up, std::vector<Direction>(up.size(), Direction::up)};
  record.conductance_S.insert(record.conductance_S.end(), down.begin(), down.end());
  record.direction.insert(record.direction.end(), down.size(), Direction::down);
  return record;
}

/// Columns of conductances after pulses up, and after pulses down; their unit, where it is told.
struct UpDownColumns {
  std::size_t up = 0, down = 1;
  std::string up_unit = {}, down_unit = {};
};

/// True if a cell is a stem such as "up", "up (uS)" or "up_data"; sets `unit`.
bool names_column(const std::string& cell, const std::vector<std::string>& stems, std::string& unit) {
  const NamedUnit named = named_unit(cell);
  for (const std::string& stem : stems) {
    if (cell == stem || cell == stem + "_data") return true;
    if (boost::to_lower_copy(named.name) != stem) continue;
    unit = named.unit;
    return true;
  }
  return false;
}

/// Columns by their names; nothing: they have others.
std::optional<UpDownColumns> named_up_down(const std::vector<std::string>& names) {
  if (names.size() != 2 && names.size() != 3) return {};
  UpDownColumns at{names.size() - 2, names.size() - 1};
  std::string none;
  if (at.up == 1 && !names_column(names[0], {"pulse", "pulses", "pulse number", "pulse #", "n", "#"}, none)) return {};
  for (int turn = 0; turn < 2; ++turn) {
    const bool up = names_column(names[at.up], {"up", "ltp", "potentiation"}, at.up_unit);
    const bool down = names_column(names[at.down], {"down", "ltd", "depression"}, at.down_unit);
    if (up && down) return at;
    std::swap(at.up, at.down);  // LTD first
  }
  return {};
}

/// True if the first column counts pulses, 0, 1, 2, ..., and is no conductance.
bool counts_pulses(const MeasuredText& text) {
  if (text.size() < 2) return false;
  const auto number = [&](std::size_t r) { return std::strtod(text.row(r).cells[0].c_str(), nullptr); };
  for (std::size_t r = 0; r + 1 < text.size(); ++r) {
    if (number(r) != std::floor(number(r)) || number(r + 1) != number(r) + 1) return false;
  }
  return true;
}

/// Conductance of a cell in a file without a window; a current where the read voltage is not 0.
double up_down_conductance(const std::string& cell, const std::string& unit, double read_voltage_V,
                           const std::string& where) {
  if (read_voltage_V != 0) {
    const double amps = cell_number(cell, unit, Unit::ampere, "current", where), g = amps / read_voltage_V;
    if (g < 0) csv_fail(where, fmt::format("{:g} A at {:g} V is a negative conductance", amps, read_voltage_V));
    return csv_conductance(fmt::format("{}", g), "", where);
  }
  const std::string own = named_unit("x " + cell).unit.empty() ? unit : "";
  if (!own.empty() && read_quantity("1 " + own, Unit::ohm).problem.empty()) {
    return csv_conductance(fmt::format("{}", 1 / cell_number(cell, own, Unit::ohm, "resistance", where)), "", where);
  }
  if (!own.empty() && read_quantity("1 " + own, Unit::ampere).problem.empty()) {
    csv_fail(
        where,
        fmt::format("the columns are currents ({}): at which voltage were they read? (--read-voltage \"0.1 V\")", own));
  }
  if (!cell.empty() && cell.front() == '-' && std::isfinite(std::strtod(cell.c_str(), nullptr))) {
    csv_fail(where,
             fmt::format("\"{}\" is negative: no conductance (weights of aihwkit, between -1 and 1? Say what their "
                         "smallest and largest value stand for: --window \"1 uS,25 uS\")",
                         cell));
  }
  return csv_conductance(cell, unit, where);
}

}  // namespace

bool is_up_down_csv(const MeasuredText& text) {
  const std::vector<std::string>& names = text.header.cells;
  if (names.empty()) return !text.empty() && text.row(0).cells.size() == 2;
  return named_up_down(names) || (names.size() == 2 && names[0] == "up_pulse" && names[1] == "down_pulse");
}

std::vector<LabRecord> parse_up_down_csv(const MeasuredText& text, const CsvScale& scale) {
  const std::string& name = text.file;
  const bool named = !text.header.cells.empty();
  const std::string where = text.place(named ? text.header.line : text.line(0));
  text.refuse_two_readings();
  if (named && text.header.cells[0] == "up_pulse") {
    csv_fail(where,
             "up_pulse,down_pulse are sizes of steps per segment, not conductances after pulses (fit the measured "
             "response, columns up,down; or write the sizes into device.piecewise.up and down)");
  }
  const UpDownColumns at = named ? named_up_down(text.header.cells).value() : UpDownColumns{};
  if (at.up_unit != at.down_unit) csv_fail(where, "the two columns have different units");
  if (std::min(at.up, at.down) == 0 && counts_pulses(text)) {
    csv_fail(where,
             "the first column counts pulses, but two columns are conductances after pulses up and after pulses "
             "down (give the file the header pulse,conductance,direction)");
  }
  const bool normalised = scale.high_S > 0;
  if (normalised && scale.read_voltage_V != 0) {
    throw UserError("--window and --read-voltage are given together: numbers without units stand for one or the other");
  }
  auto columns = columns_of(text, std::min(at.up, at.down), [&](const std::string& cell, const std::string& place) {
    return normalised ? finite_number(cell, place) : up_down_conductance(cell, at.up_unit, scale.read_voltage_V, place);
  });
  PulseRecord record = joined(columns[at.up], columns[at.down]);
  if (!normalised) return {{"", "", std::move(record)}};
  if (record.conductance_S.empty()) csv_fail(name, "has no number in either column");
  const auto [low, high] = std::minmax_element(record.conductance_S.begin(), record.conductance_S.end());
  const double from = *low, to = *high;
  if (!(from < to)) csv_fail(name, "all numbers are alike: there is no window");
  for (double& v : record.conductance_S) v = scale.low_S + (scale.high_S - scale.low_S) * (v - from) / (to - from);
  return {{"", "", std::move(record)}};
}

namespace {

struct Runs {
  std::vector<std::string> names;
  std::vector<std::vector<double>> conductance_S;
};

Runs runs_of(std::string_view bytes, const std::string& name, double volts, Direction direction) {
  const MeasuredText text = read_measured_text(bytes, name);
  const std::vector<std::string>& names = text.header.cells;
  if (text.empty()) csv_fail(name, "empty (a column of currents per run is needed)");
  Runs runs;
  runs.conductance_S = columns_of(text, 0, [volts](const std::string& cell, const std::string& where) {
    const double current = finite_number(cell, where), conductance = current / volts;
    if (conductance < 0) csv_fail(where, fmt::format("{:g} A at {:g} V is a negative conductance", current, volts));
    return csv_conductance(fmt::format("{}", conductance), "", where);
  });
  for (std::size_t c = 0; c < runs.conductance_S.size(); ++c) {
    runs.names.push_back(!names.empty() ? names[c] : fmt::format("{}", c + 1));
    const auto& run = runs.conductance_S[c];
    if (run.empty()) csv_fail(name, fmt::format("run {} has no values", runs.names[c]));
    const bool rises = run.back() > run.front();
    if (run.size() > 1 && rises == (direction == Direction::up)) continue;
    csv_fail(name,
             fmt::format("run {} {} from {:g} S to {:g} S (the file of rising runs comes first: devices fit SET.csv "
                         "RESET.csv)",
                         runs.names[c], rises ? "rises" : "does not rise", run.front(), run.back()));
  }
  return runs;
}

}  // namespace

std::vector<LabRecord> parse_set_reset_csv(std::string_view set, const std::string& set_name, std::string_view reset,
                                           const std::string& reset_name, const CsvScale& scale) {
  if (scale.read_voltage_V == 0 || !std::isfinite(scale.read_voltage_V)) {
    throw UserError(
        fmt::format("{}, {}: CrossSim's files hold currents: say at which voltage they were read "
                    "(--read-voltage \"0.1 V\"; \"1 V\" where they hold siemens). If these are records of LTP and LTD, "
                    "name their columns: --columns \"pulse=COL1,g=COL2 uS\"",
                    set_name, reset_name));
  }
  const Runs up = runs_of(set, set_name, scale.read_voltage_V, Direction::up);
  const Runs down = runs_of(reset, reset_name, scale.read_voltage_V, Direction::down);
  if (up.names.size() != down.names.size()) {
    throw UserError(
        fmt::format("{}, {}: {} rising runs and {} falling ones (every rising run must be followed by the "
                    "falling run in the same column)",
                    set_name, reset_name, up.names.size(), down.names.size()));
  }
  std::vector<LabRecord> records;
  for (std::size_t c = 0; c < up.names.size(); ++c) {
    records.push_back({"", up.names[c], joined(up.conductance_S[c], down.conductance_S[c])});
  }
  check_records(records, fmt::format("{}, {}", set_name, reset_name));
  return records;
}

std::vector<LabRecord> read_lab_files(const std::vector<std::string>& paths, const CsvScale& scale, TableLook* look) {
  if (paths.size() > 2)
    throw UserError("one CSV file, or two (LTP.csv LTD.csv; CrossSim's SET.csv RESET.csv), are read");
  if (paths.size() == 2 && scale.high_S > 0) throw UserError("--window is for one file of two columns, up and down");
  const std::string first = read_table_text(paths.at(0));
  if (paths.size() == 1) return parse_lab_csv(first, paths[0], scale, look);
  const std::string second = read_table_text(paths[1]);
  refuse_twice(paths, {first, second});
  const bool described = look != nullptr && !look->columns.empty();
  if (!described && !is_pulse_csv(first, paths[0]))
    return parse_set_reset_csv(first, paths[0], second, paths[1], scale);
  TableLook unasked;
  TableLook& seen = look != nullptr ? *look : unasked;
  std::vector<LabRecord> records = parse_lab_rows(first, paths[0], scale, seen);
  for (LabRecord& one : parse_lab_rows(second, paths[1], scale, seen)) records.push_back(std::move(one));
  check_records(records, fmt::format("{}, {}", paths[0], paths[1]));
  const auto both_ways = [&](const LabRecord& one) {
    const auto& way = one.pulses.direction;
    return one.device.empty() && std::adjacent_find(way.begin() + 1, way.end(), std::not_equal_to<>()) != way.end();
  };
  if (std::count_if(records.begin(), records.end(), both_ways) > 1) {
    seen.understood.back().notes.push_back(
        "both files have pulses up and down: they are read as records of one device. Of two devices, give each a name "
        "in a column");
  }
  return records;
}

}  // namespace nudge
