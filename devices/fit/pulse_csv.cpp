// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

enum PulseColumn : std::size_t { pulse_at, direction_at, device_at, cycle_at, voltage_at, width_at };

std::vector<LongColumn> pulse_columns() {
  return {{"pulse", Unit::none, true},         {"direction", Unit::none, false}, {"device", Unit::none, false},
          {"cycle", Unit::none, false},        {"voltage", Unit::volt, false},   {"width", Unit::second, false},
          {"conductance", Unit::siemens, true}};
}

/// Columns of a file of pulses, and the voltage at which its currents were read.
struct PulseColumns {
  FoundColumns found;
  ConductanceColumns read;
  double read_voltage_V = 0;

  /// Cell of a column; empty where the file has none.
  std::string cell(const CsvRow& row, std::size_t column) const {
    return found.has(column) ? row.cells[found.place[column]] : "";
  }
  double number(const CsvRow& row, std::size_t column, Unit of, const char* name, const std::string& where) const {
    return cell_number(cell(row, column), found.unit[column], of, name, where);
  }
  double conductance_S(const CsvRow& row, const std::string& where) const {
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
};

PulseColumns columns_of(const MeasuredText& text, const CsvScale& scale, TableLook& look) {
  std::vector<LongColumn> known = pulse_columns();
  PulseColumns out;
  out.read = add_conductance(known);
  out.read_voltage_V = scale.read_voltage_V;
  out.found = find_columns(text, known, look,
                           "; CrossSim's set.csv and reset.csv are given together: devices fit SET.csv RESET.csv");
  const auto& found = out.found;
  const std::string where = text.place(text.header);
  if (!found.has(voltage_at) && !found.has(direction_at)) {
    csv_fail(
        where,
        "column \"direction\" is missing (the header must be pulse,conductance,direction, with device and cycle for "
        "several records, voltage and width of pulses that differ)");
  }
  if (found.has(voltage_at) != found.has(width_at)) {
    csv_fail(where, fmt::format("column \"{}\" is missing (voltage and width of a pulse go together)",
                                found.has(voltage_at) ? "width" : "voltage"));
  }
  if (scale.read_voltage_V != 0 && !found.has(out.read.current)) {
    throw UserError("--read-voltage is for a column of currents and for CrossSim's two files, SET.csv RESET.csv");
  }
  return out;
}

long long pulse_number(const std::string& text, const std::string& where) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != 0) csv_fail(where, fmt::format("pulse \"{}\" is not a whole number", text));
  constexpr long long most = 1LL << 53;  // whole numbers that a double holds, as other programs write them
  if (value < -most || value > most) csv_fail(where, fmt::format("pulse {} (must be at most 2^53)", text));
  return value;
}

Direction direction_of(const std::string& text, const std::string& where) {
  if (text == "up" || text == "+1" || text == "1") return Direction::up;
  if (text == "down" || text == "-1") return Direction::down;
  csv_fail(where, fmt::format("direction \"{}\" must be up or down (or +1, -1)", text));
}

/// Appends the pulse of a row: its direction and, where the file has them, volts and width.
void add_pulse(const PulseColumns& at, const CsvRow& row, const std::string& where, PulseRecord& record) {
  const bool first = record.direction.empty();  // before the first pulse
  const std::string direction = at.cell(row, direction_at);
  if (!at.found.has(voltage_at)) {
    record.direction.push_back(first && direction.empty() ? Direction::up : direction_of(direction, where));
    return;
  }
  if (first) {
    record.direction.push_back(Direction::up);
    record.volts.push_back(0);
    record.width_s.push_back(0);
    return;
  }
  const double size = at.number(row, voltage_at, Unit::volt, "voltage", where);
  const double seconds = at.number(row, width_at, Unit::second, "width", where);
  if (size == 0) csv_fail(where, "voltage 0 V is no pulse");
  if (!(seconds > 0)) csv_fail(where, fmt::format("width {:g} s (must be > 0)", seconds));
  const bool unsigned_down = size > 0 && !direction.empty() && direction_of(direction, where) == Direction::down;
  if (size < 0 && !direction.empty() && direction_of(direction, where) == Direction::up) {
    csv_fail(where, fmt::format("voltage {:g} V of a pulse up (negative voltages go down)", size));
  }
  record.direction.push_back(size < 0 || unsigned_down ? Direction::down : Direction::up);
  record.volts.push_back(unsigned_down ? -size : size);
  record.width_s.push_back(seconds);
}

}  // namespace

void check_record(const PulseRecord& record, const std::string& name) {
  std::size_t up = 0;
  for (std::size_t i = 1; i < record.direction.size(); ++i) up += record.direction[i] == Direction::up;
  const std::size_t down = record.pulses() - std::min(up, record.pulses());
  if (record.pulses() < 4 || up < 2 || down < 2) {
    csv_fail(name,
             fmt::format("{} pulses up and {} down (at least 2 of each and a conductance before the first are needed)",
                         up, down));
  }
}

std::vector<LabRecord> parse_lab_csv(std::string_view bytes, const std::string& name, const CsvScale& scale,
                                     TableLook* look) {
  const MeasuredText text = read_measured_text(bytes, name);
  if (text.empty() && text.header.cells.empty()) {
    csv_fail(name, "empty (the first line must be pulse,conductance,direction)");
  }
  if (is_up_down_csv(text)) return parse_up_down_csv(text, scale);
  if (scale.high_S > 0) csv_fail(name, "--window is for files of two columns, up and down, without units");
  if (text.header.cells.empty()) {
    csv_fail(text.place(text.line(0)),
             "a table without names of its columns (write pulse,conductance,direction above it)");
  }
  TableLook unasked;
  const PulseColumns at = columns_of(text, scale, look != nullptr ? *look : unasked);
  std::vector<LabRecord> records;
  std::vector<long long> last;  // pulse number, per record
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const std::string where = text.place(row);
    const std::size_t columns = text.header.cells.size();
    if (row.cells.size() != columns)
      csv_fail(where, fmt::format("{} cells, the header has {}", row.cells.size(), columns));
    const std::string device = at.cell(row, device_at), cycle = at.cell(row, cycle_at);
    auto own = std::find_if(records.begin(), records.end(),
                            [&](const LabRecord& one) { return one.device == device && one.cycle == cycle; });
    const auto k = static_cast<std::size_t>(own - records.begin());
    const long long pulse = pulse_number(at.cell(row, pulse_at), where);
    if (own == records.end()) {
      records.push_back({device, cycle, {}});
      last.push_back(pulse);
    } else if (pulse != last[k] + 1) {
      csv_fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one)",
                                  pulse, last[k], pulse > last[k] ? "a gap" : "not increasing"));
    }
    last[k] = pulse;
    PulseRecord& record = records[k].pulses;
    record.conductance_S.push_back(at.conductance_S(row, where));
    add_pulse(at, row, where, record);
  }
  if (records.empty()) check_record({}, name);
  for (const LabRecord& record : records) {
    const bool one = record.device.empty() && record.cycle.empty();
    check_record(record.pulses, one ? name : fmt::format("{}: device {}, cycle {}", name, record.device, record.cycle));
  }
  return records;
}

std::vector<LabRecord> read_lab_csv(const std::string& path, const CsvScale& scale) {
  return parse_lab_csv(read_csv_text(path), path, scale);
}

}  // namespace nudge
