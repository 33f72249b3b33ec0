// SPDX-License-Identifier: Apache-2.0
// Rows of a table of pulses, sorted into records.
#include "devices/fit/pulse_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "devices/fit/column_words.hpp"
#include "devices/fit/table_times.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/io/time_stamp.hpp"

namespace nudge {

std::vector<LongColumn> pulse_columns() {
  return {{"pulse", Unit::none, true},   {"direction", Unit::none, false},    {"device", Unit::none, false},
          {"cycle", Unit::none, false},  {"voltage", Unit::volt, false},      {"width", Unit::second, false},
          {"time", Unit::second, false}, {"conductance", Unit::siemens, true}};
}

double PulseColumns::conductance_S(const CsvRow& row, const std::string& where) const {
  if (found.has(read.conductance))
    return csv_conductance(cell(row, read.conductance), found.unit[read.conductance], where);
  double value = 0;
  if (found.has(read.resistance)) {
    value = 1 / number(row, read.resistance, Unit::ohm, "resistance", where);
  } else {
    const double volts = found.has(read.read_voltage)
                             ? number(row, read.read_voltage, Unit::volt, "read_voltage", where)
                             : read_voltage_V;
    if (volts == 0)
      csv_fail(where, "at which voltage was the current read? (a column read_voltage, or --read-voltage)");
    value = number(row, read.current, Unit::ampere, "current", where) / volts;
  }
  if (!std::isfinite(value)) csv_fail(where, "resistance 0 has no conductance");
  return csv_conductance(fmt::format("{}", value), "", where);
}

std::string plain_direction(const std::string& cell) {
  constexpr std::array starts = {"start", "init", "initial", "none"};
  if (is_no_reading(cell) ||
      std::any_of(starts.begin(), starts.end(), [&](const char* word) { return boost::iequals(cell, word); }))
    return "";
  char* end = nullptr;
  const double number = std::strtod(cell.c_str(), &end);
  return *end == 0 ? fmt::format("{:g}", number) : cell;
}

namespace {

/// True of directions that are written as 1 and 0, and where a record starts not at all.
bool holds_ones_and_zeros(const MeasuredText& text, std::size_t c) {
  CsvRow row;
  bool zeros = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const std::string cell = c < row.cells.size() ? plain_direction(row.cells[c]) : "?";
    if (cell != "1" && cell != "0" && !cell.empty()) return false;
    zeros |= cell == "0";
  }
  return zeros;
}

}  // namespace

PulseColumns pulse_columns_of(MeasuredText& text, const CsvScale& scale, TableLook& look) {
  std::vector<LongColumn> known = pulse_columns();
  PulseColumns out;
  out.read = add_conductance(known);
  out.read_voltage_V = scale.read_voltage_V;
  out.found = find_columns(text, known, look,
                           "; CrossSim's set.csv and reset.csv are given together: devices fit SET.csv RESET.csv");
  const auto& found = out.found;
  const std::string where = text.place(text.header);
  if (!found.has(voltage_at) && !found.has(direction_at) && text.empty()) {
    csv_fail(
        where,
        "column \"direction\" is missing (the header must be pulse,conductance,direction, with device and cycle for "
        "several records, voltage and width of pulses that differ)");
  }
  if (found.has(voltage_at) != found.has(width_at)) {
    look.understood.back().notes.push_back(
        found.has(voltage_at) ? "no column width: only the sign of voltage is used, models of voltages need both"
                              : "no column voltage: width is not used, models of voltages need both");
  }
  out.zero_is_down = found.has(direction_at) && holds_ones_and_zeros(text, found.place[direction_at]);
  if (out.zero_is_down) look.understood.back().notes.push_back("direction 1 is up, 0 is down");
  if (scale.read_voltage_V != 0 && !found.has(out.read.current)) {
    throw UserError("--read-voltage is for a column of currents and for CrossSim's two files, SET.csv RESET.csv");
  }
  return out;
}

namespace {

long long pulse_number(const std::string& text, const std::string& where) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);  // "3.0", as pandas writes where a cell is empty
  if (text.empty() || *end != 0 || value != std::floor(value)) {
    csv_fail(where, fmt::format("pulse \"{}\" is not a whole number", text));
  }
  constexpr double most = 0x1p53;  // whole numbers that a double holds
  if (value < -most || value > most) csv_fail(where, fmt::format("pulse {} (must be at most 2^53)", text));
  return static_cast<long long>(value);
}

Direction direction_of(const std::string& text, const std::string& where) {
  if (text == "+1" || text == "1" || text == "+") return Direction::up;
  if (text == "-1" || text == "-") return Direction::down;
  if (const std::optional<Direction> word = direction_word(text)) return *word;
  csv_fail(where,
           fmt::format("direction \"{}\" must be up or down (or +1, -1; 1, 0; set, reset; LTP, LTD), or wait", text));
}

/// Direction of a signed voltage, or of an unsigned one and a direction.
Direction direction_of_volts(double size, const std::string& direction, const std::string& where) {
  if (direction.empty()) return size < 0 ? Direction::down : Direction::up;
  if (size < 0 && direction_of(direction, where) == Direction::up) {
    csv_fail(where, fmt::format("voltage {:g} V of a pulse up (negative voltages go down)", size));
  }
  return size < 0 ? Direction::down : direction_of(direction, where);
}

/// Pulse before a row: its direction, volts and width.
struct RowPulse {
  Direction direction = Direction::up;
  double volts = 0, width_s = 0;
};

RowPulse pulse_of(const PulseColumns& at, const CsvRow& row, const std::string& where, bool whole) {
  const std::string direction = at.cell(row, direction_at);
  RowPulse out;
  if (!at.found.has(voltage_at)) {
    out.direction = at.found.has(direction_at) ? direction_of(direction, where) : Direction::up;
    return out;
  }
  const double size = at.number(row, voltage_at, Unit::volt, "voltage", where);
  out.direction = direction_of_volts(size, direction, where);
  if (!whole) return out;
  out.width_s = at.number(row, width_at, Unit::second, "width", where);
  if (!(out.width_s > 0)) csv_fail(where, fmt::format("width {:g} s (must be > 0)", out.width_s));
  out.volts = out.direction == Direction::down ? -std::abs(size) : size;
  return out;
}

/// Appends the pulse of a row. The first row of a record is a start, without one.
void add_pulse(const PulseColumns& at, const CsvRow& row, const std::string& where, PulseRecord& record) {
  const bool whole = at.found.has(voltage_at) && at.found.has(width_at);
  RowPulse pulse;
  if (!record.direction.empty()) {
    pulse = pulse_of(at, row, where, whole);
  } else if (const std::string direction = at.start_direction(row); !direction.empty()) {
    pulse.direction = direction_of(direction, where);
  }
  if (at.found.reversed) {
    pulse.direction = pulse.direction == Direction::up ? Direction::down : Direction::up;
    pulse.volts = -pulse.volts;
  }
  record.direction.push_back(pulse.direction);
  if (whole) record.volts.push_back(pulse.volts), record.width_s.push_back(pulse.width_s);
}

/// True of a row of 0 V: a read, with no pulse before it.
bool is_unpulsed(const PulseColumns& at, const CsvRow& row) {
  if (!at.found.has(voltage_at)) return false;
  const std::string volts = at.cell(row, voltage_at);
  char* end = nullptr;
  const double value = std::strtod(volts.c_str(), &end);
  return end != volts.c_str() && value == 0 && is_measured_number(volts);
}

}  // namespace

void RecordSorter::add(const CsvRow& row, const std::string& where) {
  if (is_missing_reading(columns_.cell(row, pulse_at)) && columns_.is_missing(row)) {  // a device without readings
    said_.missing_lines.push_back(row.line);
    return;
  }
  const long long pulse = pulse_number(columns_.cell(row, pulse_at), where);
  OpenRecord& open = open_record(row, pulse, where);
  open.last = pulse;
  if (is_wait(row)) return add_wait(row, open, where);
  if (!out_.records[open.at].pulses.waits.empty()) go_on_after_wait(open, row.line);
  if (columns_.is_missing(row)) {
    said_.missing_lines.push_back(row.line);
    out_.broken[open.at] = open.ended = true;
    return;
  }
  if (!out_.records[open.at].pulses.conductance_S.empty() && !open.ended && is_unpulsed(columns_, row)) {
    ++unpulsed_;
    open.ended = true;  // the next pulses go on from this reading
  }
  if (open.ended) {
    open.read_s = open.pulse_s = {};
    const LabRecord before = {out_.records[open.at].device, out_.records[open.at].cycle, {}};
    open.at = begin(before);
    open.ended = false;
    out_.broken.back() = true;
  }
  PulseRecord& record = out_.records[open.at].pulses;
  record.conductance_S.push_back(columns_.conductance_S(row, where));
  add_pulse(columns_, row, where, record);
  if (columns_.found.has(pulse_time_at)) add_pause(row, open, where);
  out_.lines[open.at].push_back(row.line);
}

RowsOfRecords RecordSorter::done() {
  if (restarts_ > 0) {
    said_.notes.push_back(fmt::format("pulses are counted anew {} times: each time a record begins", restarts_));
  }
  if (turns_ > 0) {
    said_.notes.push_back(
        fmt::format("pulses are counted anew {} times without a start: they go on from the reading "
                    "before",
                    turns_));
  }
  if (unpulsed_ > 0) said_.notes.push_back(fmt::format("{} rows of 0 V are reads: each begins a record", unpulsed_));
  std::size_t reads = 0;
  RowsOfRecords kept;
  for (std::size_t k = 0; k < out_.records.size(); ++k) {
    reads += out_.records[k].pulses.waits.size();
    if (out_.broken[k] && out_.records[k].pulses.pulses() == 0) continue;
    kept.records.push_back(std::move(out_.records[k]));
    kept.lines.push_back(std::move(out_.lines[k]));
  }
  if (reads > 0) said_.notes.push_back(fmt::format("{} reads follow a wait: a leak is looked for in them", reads));
  const auto time = std::find_if(said_.columns.begin(), said_.columns.end(),
                                 [](const Understood::Column& one) { return one.meaning == "time"; });
  if (time == said_.columns.end()) return kept;
  if (reads > 0 && !back_in_time_.empty()) {
    csv_fail(back_in_time_,
             "this pulse comes before the reading in the row above it (times must grow within a record)");
  }
  if (reads > 0) return kept;
  said_.left_columns.push_back(time->name);  // times matter where there are waits
  said_.columns.erase(time);
  for (LabRecord& record : kept.records) record.pulses.pause_s.clear();
  return kept;
}

std::size_t RecordSorter::begin(LabRecord record) {
  out_.records.push_back(std::move(record));
  out_.lines.emplace_back();
  out_.broken.push_back(false);
  return out_.records.size() - 1;
}

OpenRecord& RecordSorter::open_record(const CsvRow& row, long long pulse, const std::string& where) {
  const std::string device = columns_.cell(row, device_at), cycle = columns_.cell(row, cycle_at);
  const auto [at, fresh] = open_.try_emplace({device, cycle});
  OpenRecord& open = at->second;
  if (fresh && is_wait(row)) csv_fail(where, "a wait before the first reading of a device (its first row is a start)");
  if (fresh) return open = {begin({device, cycle, {}}), pulse, pulse};
  if (pulse == open.last + 1 || (pulse == open.last && is_wait(row))) return open;
  if (pulse == open.first && may_restart(out_.records[open.at].pulses, row, where)) {
    ++restarts_;
    const std::string name =
        columns_.found.has(cycle_at) ? cycle : fmt::format("{}", std::max(restarts_of_[device] += 1, 1) + 1);
    return open = {begin({device, name, {}}), pulse, pulse};
  }
  if (goes_on(open, pulse, row, where)) {
    ++turns_;
    return open;
  }
  csv_fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one{})",
                              pulse, open.last, pulse > open.last ? "a gap" : "not increasing",
                              pulse == open.last ? "; a read without a pulse has the direction wait" : ""));
}

/// True where the count begins anew with the pulses of the other direction, which have no start of their own: they follow the reading before.
bool RecordSorter::goes_on(const OpenRecord& open, long long pulse, const CsvRow& row, const std::string& where) const {
  const PulseRecord& record = out_.records[open.at].pulses;
  const std::string direction = columns_.start_direction(row);
  if (open.first != 0 || pulse != 1 || record.pulses() == 0 || direction.empty()) return false;
  const bool same = direction_of(direction, where) == record.direction.back();
  return same == columns_.found.reversed;
}

/// True where a new count is a new record: no column of cycles, or the other direction.
bool RecordSorter::may_restart(const PulseRecord& record, const CsvRow& row, const std::string& where) const {
  if (record.pulses() == 0 || is_wait(row)) return false;
  if (!columns_.found.has(cycle_at)) return true;
  const std::string direction = columns_.start_direction(row);
  return !direction.empty() && direction_of(direction, where) != record.direction.back();
}

bool RecordSorter::is_wait(const CsvRow& row) const {
  const std::string word = boost::to_lower_copy(columns_.cell(row, direction_at));
  constexpr std::array words = {"wait", "waiting", "read", "pause", "hold", "idle", "delay"};
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

double RecordSorter::seconds(const CsvRow& row, const std::string& where) const {
  const std::string cell = columns_.cell(row, pulse_time_at);
  if (const std::optional<double> stamp = date_of(cell, columns_.found.unit[pulse_time_at])) return *stamp;
  const double number = cell_number(cell, columns_.found.unit[pulse_time_at], Unit::second, "time", where);
  const Clock* clock = clock_of(number);
  return clock != nullptr ? clock->second * number : number;
}

/// Appends the pause before the pulse of a row. A pulse without a time has none: the next one with a time has the whole way. Cells that are
/// no time are told by the wait that needs them.
void RecordSorter::add_pause(const CsvRow& row, OpenRecord& open, const std::string& where) {
  std::vector<double>& pauses = out_.records[open.at].pulses.pause_s;
  open.pulse_s = {};
  try {
    open.pulse_s = seconds(row, where);
  } catch (const UserError&) {
  }
  const bool first = pauses.empty() || !open.pulse_s || !open.read_s;
  pauses.push_back(first ? 0 : *open.pulse_s - *open.read_s);
  if (pauses.back() < 0 && back_in_time_.empty()) back_in_time_ = where;
  if (open.pulse_s) open.read_s = open.pulse_s;
}

void RecordSorter::add_wait(const CsvRow& row, OpenRecord& open, const std::string& where) {
  PulseRecord& record = out_.records[open.at].pulses;
  if (!columns_.found.has(pulse_time_at)) {
    csv_fail(where, "a wait needs a column time, here and in the row of the pulse before it");
  }
  if (open.ended || record.pulses() == 0) csv_fail(where, "a wait without a pulse and its reading before it");
  if (columns_.is_missing(row)) {
    said_.missing_lines.push_back(row.line);
    return;
  }
  const double now = seconds(row, where);
  if (!open.pulse_s) csv_fail(where, "a wait needs the time of the pulse before it, whose row has none");
  const double since = now - *open.pulse_s;
  const double before = record.waits.empty() ? 0 : record.waits.back().since_pulse_s;
  if (!(since > before)) {
    csv_fail(where, fmt::format("this read is {:g} s after the pulse, the one before it {:g} s (times must grow)",
                                since, before));
  }
  record.waits.push_back({since, columns_.conductance_S(row, where)});
  open.read_s = now;
}

/// Begins the record of the pulses behind a wait, at what was read last.
void RecordSorter::go_on_after_wait(OpenRecord& open, int line) {
  const LabRecord before = {out_.records[open.at].device, out_.records[open.at].cycle, {}};
  const double start_S = out_.records[open.at].pulses.waits.back().conductance_S;
  const bool volts = !out_.records[open.at].pulses.volts.empty();
  const auto later = std::next(out_.records.begin(), static_cast<std::ptrdiff_t>(open.at) + 1);
  const bool is_last =
      std::none_of(later, out_.records.end(), [&](const LabRecord& r) { return r.device == before.device; });
  open.at = begin(before);
  PulseRecord& record = out_.records[open.at].pulses;
  record.goes_on = is_last;  // cycles whose rows are mixed begin anew
  record.pause_s.push_back(0);
  record.conductance_S.push_back(start_S);
  record.direction.push_back(Direction::up);
  if (volts) record.volts.push_back(0), record.width_s.push_back(0);
  out_.lines[open.at].push_back(line);
}

}  // namespace nudge
