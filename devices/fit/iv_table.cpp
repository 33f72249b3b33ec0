// SPDX-License-Identifier: Apache-2.0
// Tables of sweeps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "devices/fit/iv_sweep.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

enum IvColumn : std::size_t { volts_at, amps_at, seconds_at, iv_device_at, iv_cycle_at };

std::vector<LongColumn> iv_columns() {
  return {{"voltage", Unit::volt, true},
          {"current", Unit::ampere, true},
          {"time", Unit::second, false},
          {"device", Unit::none, false},
          {"cycle", Unit::none, false}};
}

/// Current at voltages of one sign at which three rows or more are cut off: an instrument's compliance.
double limit_of(const std::vector<IvSweep>& sweeps, bool positive) {
  const auto counts = [&](double volts) { return positive ? volts > 0 : volts < 0; };
  double most = 0;
  for (const IvSweep& sweep : sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (counts(sweep.volts[k])) most = std::max(most, std::abs(sweep.current_A[k]));
    }
  }
  int at_most = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = 0;
  for (const IvSweep& sweep : sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (!counts(sweep.volts[k]) || std::abs(sweep.current_A[k]) < 0.999 * most) continue;
      ++at_most;
      lowest = std::min(lowest, std::abs(sweep.volts[k]));
      highest = std::max(highest, std::abs(sweep.volts[k]));
    }
  }
  // A current that is the same over a tenth of the voltage is a source of current, not a device.
  return at_most >= 3 && highest > 1.1 * lowest ? most : std::numeric_limits<double>::infinity();
}

/// Most that noise makes of a current anywhere in a file: five standard deviations, one of a million. Second differences of white
/// noise have a median of 1.65 of them; what the device does adds to few of them.
double most_noise(const std::vector<IvSweep>& sweeps) {
  std::vector<double> bends;
  for (const IvSweep& sweep : sweeps) {
    const std::vector<double>& i = sweep.current_A;
    for (std::size_t k = 2; k < i.size(); ++k) bends.push_back(std::abs(i[k] - 2 * i[k - 1] + i[k - 2]));
  }
  return bends.size() < 8 ? 0 : 5 / 1.65 * median(bends);
}

/// Currents with the sign of their voltage; a file of magnitudes has none that is negative.
void check_signs(IvData& data, Understood& said) {
  double most = 0;
  bool negative = false;
  for (const IvSweep& sweep : data.sweeps) {
    for (const double i : sweep.current_A) most = std::max(most, std::abs(i)), negative = negative || i < 0;
  }
  // Noise, or an offset of the reader.
  const double against = std::max(0.01 * most, most_noise(data.sweeps));
  bool turned = false;
  for (IvSweep& sweep : data.sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      if (sweep.volts[k] * sweep.current_A[k] >= 0) continue;
      if (negative && std::abs(sweep.current_A[k]) <= against) continue;
      if (negative) {
        csv_fail(fmt::format("{}:{}", data.file, sweep.lines[k]),
                 fmt::format("{:g} A flow against {:g} V: a memristor is passive (is the sign of one column turned?)",
                             sweep.current_A[k], sweep.volts[k]));
      }
      sweep.current_A[k] = -sweep.current_A[k];
      turned = true;
    }
  }
  if (turned && !negative) said.notes.push_back("currents are magnitudes: they take the sign of their voltage");
}

/// Refuses currents and voltages whose unit is missing: a conductance beyond that of a wire, at a tenth of the largest voltage or more, and
/// voltages above 100 V, which no device under test withstands.
void check_sizes(const IvData& data) {
  double most = 0;
  for (const IvSweep& sweep : data.sweeps) {
    for (const double volts : sweep.volts) most = std::max(most, std::abs(volts));
  }
  for (const IvSweep& sweep : data.sweeps) {
    for (std::size_t k = 0; k < sweep.volts.size(); ++k) {
      const double volts = sweep.volts[k], amps = sweep.current_A[k];
      const std::string where = fmt::format("{}:{}", data.file, sweep.lines[k]);
      if (std::abs(volts) > 100) {
        csv_fail(where, fmt::format("{:g} V at a device (name the column voltage_mV if these are millivolts)", volts));
      }
      if (std::abs(volts) < 0.1 * most || std::abs(amps) <= kMostConductance_S * std::abs(volts)) continue;
      csv_fail(where, fmt::format("{:g} A at {:g} V are {:g} S, a wire (name the column current_uA if these are "
                                  "microamperes)",
                                  amps, volts, std::abs(amps / volts)));
    }
  }
}

}  // namespace

IvData parse_iv(std::string_view text, const std::string& file, double rate_Hz, TableLook& look) {
  const LongTable table = parse_long_table(text, file, iv_columns(), {"voltage", "current"}, look);
  const bool times = !table.columns[seconds_at].empty();
  if (times && rate_Hz > 0) csv_fail(file, "--rate is for sweeps without times: this table has a column time");
  std::map<std::pair<double, double>, std::size_t> place;
  IvData data{file, {}};
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const auto cell = [&](std::size_t c) { return table.columns[c].empty() ? 0 : table.columns[c][i]; };
    const auto [at, fresh] = place.try_emplace({cell(iv_device_at), cell(iv_cycle_at)}, data.sweeps.size());
    if (fresh) data.sweeps.push_back({cell(iv_device_at), cell(iv_cycle_at), {}, {}, {}, {}});
    IvSweep& sweep = data.sweeps[at->second];
    const double seconds =
        times ? table.columns[seconds_at][i] : static_cast<double>(sweep.volts.size()) / (rate_Hz > 0 ? rate_Hz : 1);
    if ((times || rate_Hz > 0) && !sweep.time_s.empty() && seconds <= sweep.time_s.back()) {
      csv_fail(
          fmt::format("{}:{}", file, table.lines[i]),
          fmt::format("time {:g} s follows {:g} s (sweeps of several cycles or devices have columns cycle, device)",
                      seconds, sweep.time_s.back()));
    }
    if (times || rate_Hz > 0) sweep.time_s.push_back(seconds);
    sweep.volts.push_back(table.columns[volts_at][i]);
    sweep.current_A.push_back(table.columns[amps_at][i]);
    sweep.lines.push_back(table.lines[i]);
  }
  check_sizes(data);
  check_signs(data, look.understood.back());
  data.limits = {limit_of(data.sweeps, true), limit_of(data.sweeps, false)};
  for (const double volts : {1.0, -1.0}) {
    if (!std::isfinite(data.limits.at(volts))) continue;
    look.understood.back().notes.push_back(
        fmt::format("at {} voltages the current is limited to {:g} A: rows there are no states of the device",
                    volts > 0 ? "positive" : "negative", data.limits.at(volts)));
  }
  return data;
}

}  // namespace nudge
