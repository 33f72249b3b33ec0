// SPDX-License-Identifier: Apache-2.0
// Tables of endurance.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "devices/fit/column_words.hpp"
#include "devices/fit/fit_endurance.hpp"
#include "devices/fit/table_times.hpp"

namespace nudge {
namespace {

enum EnduranceColumn : std::size_t {
  cycled_device_at,
  cycle_count_at,
  pulse_count_at,
  r_on_at,
  r_off_at,
  g_on_at,
  g_off_at,
  state_at,
  reading_at
};

std::vector<LongColumn> endurance_columns() {
  return {{"device", Unit::none, false},        {"cycle", Unit::none, false},
          {"pulse", Unit::none, false},         {"r_on", Unit::ohm, false},
          {"r_off", Unit::ohm, false},          {"g_on", Unit::siemens, false},
          {"g_off", Unit::siemens, false},      {"state", Unit::none, false, "", state_word},
          {"conductance", Unit::siemens, false}};
}

/// Conductance of a row from the column of resistances or of conductances.
double end_S(const LongTable& table, std::size_t i, std::size_t ohms, std::size_t siemens) {
  const std::string where = fmt::format("{}:{}", table.file, table.lines[i]);
  const std::vector<double>&r = table.columns[ohms], &g = table.columns[siemens];
  if (r.empty() && g.empty()) {
    csv_fail(fmt::format("{}", table.file),
             fmt::format("no column of the {0} state (names: r_{0}, {1}, g_{0}; with a unit, as {1}_kOhm or g_{0}_uS). "
                         "Or a column of states, LRS and HRS, beside one of resistances or conductances",
                         ohms == r_on_at ? "on" : "off", ohms == r_on_at ? "LRS" : "HRS"));
  }
  const double value = g.empty() ? 1 / r[i] : g[i];
  if (value > 0 && std::isfinite(value)) return value;
  csv_fail(where,
           fmt::format("{} {:g} (must be above 0)", g.empty() ? "resistance" : "conductance", g.empty() ? r[i] : g[i]));
}

double cycled_name(const std::vector<std::vector<double>>& columns, std::size_t i) {
  return columns[cycled_device_at].empty() ? 0 : columns[cycled_device_at][i];
}

/// Device of which no row has both readings.
struct UnseenDevice {
  double first = std::numeric_limits<double>::infinity();  ///< its first cycle
  int line = 0;
  bool dead = true;  ///< no row has a window
};

/// What rows with an overflow tell of devices.
struct OverflowRows {
  std::map<double, double> lost;  ///< cycles at which devices have lost their window: there and at all later rows
  std::vector<int> left_out;      ///< first lines of devices of which neither readings nor a failure are known
};

/// A window is lost where the on resistance or both readings overflow. `lines`: of the rows with an overflow.
OverflowRows overflow_rows(const LongTable& table, std::size_t count_at, const std::vector<int>& lines) {
  std::map<double, double> last;  // cycle of the last row that tells a window
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    double& own = last[cycled_name(table.columns, i)];
    own = std::max(own, table.columns[count_at][i]);
  }
  OverflowRows out;
  if (table.missing.empty()) return out;
  const auto over = [&](std::size_t column, std::size_t i) {
    return !table.missing[column].empty() && std::isinf(table.missing[column][i]);
  };
  std::map<double, UnseenDevice> unseen;
  for (std::size_t i = 0; i < table.missing[count_at].size(); ++i) {
    const double device = cycled_name(table.missing, i), cycle = table.missing[count_at][i];
    const bool window = !over(r_on_at, i) && !(over(g_on_at, i) && over(g_off_at, i));
    const auto seen = last.find(device);
    if (seen == last.end()) {
      UnseenDevice& own = unseen[device];
      if (own.line == 0) own.line = lines[i];
      own.first = std::min(own.first, cycle);
      own.dead = own.dead && !window;
    } else if (!window && cycle > seen->second) {
      const auto [at, fresh] = out.lost.emplace(device, cycle);
      at->second = std::min(at->second, cycle);
    }
  }
  for (const auto& [device, own] : unseen) {
    if (own.dead && own.first > 0) {  // dead at its first look, which came after a cycle
      out.lost.emplace(device, own.first);
    } else {
      out.left_out.push_back(own.line);
    }
  }
  return out;
}

/// Makes rows of both states of rows that have one each: cycle, state, resistance. A cycle of which one is missing is left out, and counted.
/// Rows with an overflow keep their places.
void pair_states(LongTable& table, std::size_t count_at, const std::vector<LongColumn>& known, Understood& said) {
  const std::vector<double>&states = table.columns[state_at], &g = table.columns[reading_at];
  struct Pair {
    int line = 0;
    std::array<double, 2> g_S{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  };
  std::map<std::pair<double, double>, Pair> pairs;
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const double count = table.columns[count_at][i];
    Pair& own = pairs[{cycled_name(table.columns, i), count}];
    double& place = own.g_S[states[i] > 0 ? 1 : 0];
    if (!std::isnan(place)) {
      csv_fail(fmt::format("{}:{}", table.file, table.lines[i]),
               fmt::format("cycle {:g} has two readings of one state (name the devices in a column device)", count));
    }
    place = g[i];
    if (own.line == 0) own.line = table.lines[i];
  }
  LongTable out{table.file, {}, std::vector<std::vector<double>>(table.columns.size()), table.missing};
  std::vector<int> halves;
  for (const auto& [key, own] : pairs) {
    if (std::isnan(own.g_S[0]) || std::isnan(own.g_S[1])) {
      halves.push_back(own.line);
      continue;
    }
    out.lines.push_back(own.line);
    if (!table.columns[cycled_device_at].empty()) out.columns[cycled_device_at].push_back(key.first);
    out.columns[count_at].push_back(key.second);
    out.columns[g_on_at].push_back(own.g_S[1]);
    out.columns[g_off_at].push_back(own.g_S[0]);
  }
  if (!halves.empty()) {
    said.notes.push_back(fmt::format("{} cycles have a reading of one state alone, and are left out: lines {}",
                                     halves.size(), fmt::join(halves, ", ")));
  }
  const std::size_t ohms = place_among(known, "resistance");
  for (std::size_t i = 0; !out.missing.empty() && i < out.missing[count_at].size(); ++i) {
    const bool on = out.missing[state_at][i] > 0;
    const auto over = [&](std::size_t column) {
      return !out.missing[column].empty() && std::isinf(out.missing[column][i]);
    };
    for (const std::size_t column : {r_on_at, r_off_at}) {
      const bool own = over(ohms) && (column == r_on_at) == on;
      out.missing[column].push_back(own ? std::numeric_limits<double>::infinity()
                                        : std::numeric_limits<double>::quiet_NaN());
    }
  }
  table = std::move(out);
}

}  // namespace

std::vector<CycledDevice> parse_endurance(std::string_view text, const std::string& file, TableLook& look,
                                          bool& counts_pulses) {
  std::vector<LongColumn> known = endurance_columns();
  add_conductance(known);
  LongTable table = parse_long_table(text, file, known, {"cycle", "r_on", "r_off"}, look);
  counts_pulses = table.columns[cycle_count_at].empty();
  const std::size_t count_at = counts_pulses ? pulse_count_at : cycle_count_at;
  if (table.columns[count_at].empty()) {
    csv_fail(file, "column \"cycle\" is missing (or \"pulse\", where the table counts pulses)");
  }
  if (!table.columns[state_at].empty() && !table.columns[reading_at].empty()) {
    pair_states(table, count_at, known, look.understood.back());
  }
  const std::vector<double>& count = table.columns[count_at];
  std::map<double, std::vector<std::size_t>> rows;
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const std::string where = fmt::format("{}:{}", file, table.lines[i]);
    if (!(count[i] >= 0)) csv_fail(where, fmt::format("cycle {:g} (must be 0 or more)", count[i]));
    rows[cycled_name(table.columns, i)].push_back(i);
  }
  Understood& said = look.understood.back();
  const auto [lost, left_out] = overflow_rows(table, count_at, said.missing_lines);
  if (!lost.empty()) {
    said.notes.push_back(
        fmt::format("{} devices end with an overflow of their on state: they failed there, and count so", lost.size()));
  }
  if (!left_out.empty()) {
    said.notes.push_back(
        fmt::format("{} devices are left out, because no row has both their readings: they begin in lines {}",
                    left_out.size(), fmt::join(left_out, ", ")));
  }
  std::vector<CycledDevice> devices;
  for (auto& [name, own] : rows) {
    std::stable_sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return count[a] < count[b]; });
    CycledDevice device{name, {}, {}, {}};
    for (const std::size_t i : own) {
      const std::string where = fmt::format("{}:{}", file, table.lines[i]);
      const double on = end_S(table, i, r_on_at, g_on_at), off = end_S(table, i, r_off_at, g_off_at);
      if (device.cycles.empty() && on <= off) {
        csv_fail(where,
                 fmt::format("the on state ({:.4g} uS) conducts no better than the off state ({:.4g} uS): are the "
                             "columns swapped, or resistances named as conductances?",
                             1e6 * on, 1e6 * off));
      }
      if (!device.cycles.empty() && device.cycles.back() == count[i]) {
        csv_fail(where,
                 fmt::format("cycle {:g} occurs twice for one device (name the devices in a column device)", count[i]));
      }
      device.cycles.push_back(count[i]);
      device.on_S.push_back(on);
      device.off_S.push_back(off);
    }
    if (const auto at = lost.find(name); at != lost.end()) device.lost = at->second;
    if (device.cycles.size() < 2 && !std::isfinite(device.lost)) {
      csv_fail(fmt::format("{}:{}", file, table.lines[own.front()]),
               "one row for a device (at least 2 numbers of cycles are needed)");
    }
    devices.push_back(std::move(device));
  }
  for (const auto& [name, at] : lost) {
    if (rows.count(name) == 0) devices.push_back({name, {}, {}, {}, at});
  }
  return devices;
}

}  // namespace nudge
