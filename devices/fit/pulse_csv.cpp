// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

/// Places of the columns named in the header; kAbsent where there is none.
struct LabHeader {
  std::size_t pulse = kAbsent, conductance = kAbsent, direction = kAbsent, device = kAbsent, cycle = kAbsent;
  std::size_t voltage = kAbsent, width = kAbsent;
  /// Units of cells without one, from the name of the column: " uS", " mV", " ns".
  std::string unit = {}, voltage_unit = {}, width_unit = {};
};

/// Plain name of a column: "conductance_uS", "G_uS" and "G" are the conductance, "voltage_mV" the voltage, "width_ns" the
/// width; the unit goes to `at`.
std::string plain_name(const std::string& cell, LabHeader& at) {
  struct Stem {
    const char *stem, *name;
    std::vector<const char*> units;
    std::string* unit;
  };
  const std::vector<Stem> stems = {{"conductance", "conductance", {"S", "mS", "uS", "nS"}, &at.unit},
                                   {"G", "conductance", {"S", "mS", "uS", "nS"}, &at.unit},
                                   {"voltage", "voltage", {"V", "mV"}, &at.voltage_unit},
                                   {"width", "width", {"s", "ms", "us", "ns"}, &at.width_unit}};
  for (const Stem& one : stems) {
    if (cell == one.stem) return one.name;
    for (const char* of : one.units) {
      if (cell != fmt::format("{}_{}", one.stem, of)) continue;
      *one.unit = fmt::format(" {}", of);
      return one.name;
    }
  }
  return cell;
}

/// Error text for header[c], an unknown column; a header without any known name may be that of another program.
std::string unknown_column(const std::vector<std::string>& header, std::size_t c,
                           const std::vector<std::string>& names) {
  LabHeader ignored;
  const bool foreign = std::none_of(header.begin(), header.end(), [&](const std::string& cell) {
    return std::find(names.begin(), names.end(), plain_name(cell, ignored)) != names.end();
  });
  return fmt::format(
      "unknown column \"{}\" ({}{})", header[c], did_you_mean(plain_name(header[c], ignored), names),
      foreign ? "; CrossSim's set.csv and reset.csv are given together: devices fit SET.csv RESET.csv" : "");
}

LabHeader columns_of(const std::vector<std::string>& header, const std::string& where) {
  LabHeader at;
  const std::vector<std::pair<std::string, std::size_t*>> known{
      {"pulse", &at.pulse}, {"conductance", &at.conductance}, {"direction", &at.direction}, {"device", &at.device},
      {"cycle", &at.cycle}, {"voltage", &at.voltage},         {"width", &at.width}};
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const auto& [name, place] : known) names.push_back(name);
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string name = plain_name(header[c], at);
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == name; });
    if (found == known.end()) csv_fail(where, unknown_column(header, c, names));
    if (*found->second != kAbsent) csv_fail(where, fmt::format("column \"{}\" occurs twice", header[c]));
    *found->second = c;
  }
  const bool signed_pulses = at.voltage != kAbsent;
  for (const auto& [name, place] : known) {
    const bool needed = name == "pulse" || name == "conductance" || (name == "direction" && !signed_pulses);
    if (*place == kAbsent && needed) {
      csv_fail(where,
               fmt::format("column \"{}\" is missing (the header must be pulse,conductance,direction, with device and "
                           "cycle for several records, voltage and width of pulses that differ)",
                           name));
    }
  }
  if ((at.voltage == kAbsent) != (at.width == kAbsent)) {
    csv_fail(where, fmt::format("column \"{}\" is missing (voltage and width of a pulse go together)",
                                signed_pulses ? "width" : "voltage"));
  }
  return at;
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
void add_pulse(const LabHeader& at, const std::vector<std::string>& cells, const std::string& where,
               PulseRecord& record) {
  const bool first = record.direction.empty();  // before the first pulse
  const std::string direction = at.direction == kAbsent ? "" : cells[at.direction];
  if (at.voltage == kAbsent) {
    record.direction.push_back(first && direction.empty() ? Direction::up : direction_of(direction, where));
    return;
  }
  const std::string &volts = cells[at.voltage], &width = cells[at.width];
  if (first) {
    record.direction.push_back(Direction::up);
    record.volts.push_back(0);
    record.width_s.push_back(0);
    return;
  }
  const double size = cell_number(volts, at.voltage_unit, Unit::volt, "voltage", where);
  const double seconds = cell_number(width, at.width_unit, Unit::second, "width", where);
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

std::vector<LabRecord> parse_lab_csv(std::string_view text, const std::string& name, const CsvScale& scale) {
  const std::vector<CsvRow> rows = csv_rows(text);
  if (rows.empty()) csv_fail(name, "empty (the first line must be pulse,conductance,direction)");
  if (is_up_down_csv(rows)) return parse_up_down_csv(rows, name, scale);
  if (scale.high_S > 0) csv_fail(name, "--window is for files of two columns, up and down, without units");
  const LabHeader at = columns_of(rows.front().cells, fmt::format("{}:{}", name, rows.front().line));
  std::vector<LabRecord> records;
  std::vector<long long> last;  // pulse number, per record
  for (std::size_t r = 1; r < rows.size(); ++r) {
    const std::string where = fmt::format("{}:{}", name, rows[r].line);
    const auto& cells = rows[r].cells;
    const std::size_t columns = rows.front().cells.size();
    if (cells.size() != columns) csv_fail(where, fmt::format("{} cells, the header has {}", cells.size(), columns));
    const std::string device = at.device == kAbsent ? "" : cells[at.device];
    const std::string cycle = at.cycle == kAbsent ? "" : cells[at.cycle];
    auto own = std::find_if(records.begin(), records.end(),
                            [&](const LabRecord& one) { return one.device == device && one.cycle == cycle; });
    const auto k = static_cast<std::size_t>(own - records.begin());
    const long long pulse = pulse_number(cells[at.pulse], where);
    if (own == records.end()) {
      records.push_back({device, cycle, {}});
      last.push_back(pulse);
    } else if (pulse != last[k] + 1) {
      csv_fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one)",
                                  pulse, last[k], pulse > last[k] ? "a gap" : "not increasing"));
    }
    last[k] = pulse;
    PulseRecord& record = records[k].pulses;
    record.conductance_S.push_back(csv_conductance(cells[at.conductance], at.unit, where));
    add_pulse(at, cells, where, record);
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
