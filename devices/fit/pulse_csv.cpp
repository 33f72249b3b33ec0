// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <map>

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
  /// True where the instrument wrote an overflow for the reading.
  bool is_missing(const CsvRow& row) const {
    const std::size_t at = found.has(read.conductance)  ? read.conductance
                           : found.has(read.resistance) ? read.resistance
                                                        : read.current;
    return is_overflow(cell(row, at));
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
  const std::string word = boost::to_lower_copy(text);
  for (const char* up : {"up", "+1", "1", "+", "set", "ltp", "potentiation"}) {
    if (word == up) return Direction::up;
  }
  for (const char* down : {"down", "-1", "-", "reset", "ltd", "depression"}) {
    if (word == down) return Direction::down;
  }
  csv_fail(where, fmt::format("direction \"{}\" must be up or down (or +1, -1; set, reset; LTP, LTD)", text));
}

/// Direction of a signed voltage, or of an unsigned one and a direction.
Direction direction_of_volts(double size, const std::string& direction, const std::string& where) {
  if (size == 0) csv_fail(where, "voltage 0 V is not a pulse");
  if (direction.empty()) return size < 0 ? Direction::down : Direction::up;
  if (size < 0 && direction_of(direction, where) == Direction::up) {
    csv_fail(where, fmt::format("voltage {:g} V of a pulse up (negative voltages go down)", size));
  }
  return size < 0 ? Direction::down : direction_of(direction, where);
}

/// Appends the pulse of a row: its direction and, where the file has them, volts and width.
void add_pulse(const PulseColumns& at, const CsvRow& row, const std::string& where, PulseRecord& record) {
  const bool first = record.direction.empty();  // before the first pulse
  const std::string direction = at.cell(row, direction_at);
  const bool volts = at.found.has(voltage_at), whole = volts && at.found.has(width_at);
  if (first) {
    record.direction.push_back(direction.empty() ? Direction::up : direction_of(direction, where));
    if (whole) record.volts.push_back(0), record.width_s.push_back(0);
    return;
  }
  if (!volts) {
    record.direction.push_back(at.found.has(direction_at) ? direction_of(direction, where) : Direction::up);
    return;
  }
  const double size = at.number(row, voltage_at, Unit::volt, "voltage", where);
  record.direction.push_back(direction_of_volts(size, direction, where));
  if (!whole) return;
  const double seconds = at.number(row, width_at, Unit::second, "width", where);
  if (!(seconds > 0)) csv_fail(where, fmt::format("width {:g} s (must be > 0)", seconds));
  record.volts.push_back(record.direction.back() == Direction::down ? -std::abs(size) : size);
  record.width_s.push_back(seconds);
}

/// Records of a table, and the lines of their rows.
struct RowsOfRecords {
  std::vector<LabRecord> records = {};
  std::vector<std::vector<int>> lines = {};
  std::vector<bool> broken = {};  ///< begins or ends at a missing reading
};

/// Record that rows of a device and cycle are added to.
struct OpenRecord {
  std::size_t at = 0;
  long long first = 0, last = 0;  ///< pulse numbers
  bool ended = false;             ///< the last reading is missing: the next one begins a record
};

/// Sorts the rows of a table into records.
class RecordSorter {
 public:
  RecordSorter(const PulseColumns& columns, Understood& said) : columns_(columns), said_(said) {}

  void add(const CsvRow& row, const std::string& where) {
    const long long pulse = pulse_number(columns_.cell(row, pulse_at), where);
    OpenRecord& open = open_record(row, pulse, where);
    open.last = pulse;
    if (columns_.is_missing(row)) {
      said_.missing_lines.push_back(row.line);
      out_.broken[open.at] = open.ended = true;
      return;
    }
    if (open.ended) {
      const LabRecord before = {out_.records[open.at].device, out_.records[open.at].cycle, {}};
      open = {begin(before), open.first, pulse, false};
      out_.broken.back() = true;
    }
    PulseRecord& record = out_.records[open.at].pulses;
    record.conductance_S.push_back(columns_.conductance_S(row, where));
    add_pulse(columns_, row, where, record);
    out_.lines[open.at].push_back(row.line);
  }

  RowsOfRecords done() {
    if (restarts_ > 0) {
      said_.notes.push_back(fmt::format("pulses are counted anew {} times: {} records", restarts_, restarts_ + 1));
    }
    RowsOfRecords kept;
    for (std::size_t k = 0; k < out_.records.size(); ++k) {
      if (out_.broken[k] && out_.records[k].pulses.pulses() == 0) continue;
      kept.records.push_back(std::move(out_.records[k]));
      kept.lines.push_back(std::move(out_.lines[k]));
    }
    return kept;
  }

 private:
  std::size_t begin(LabRecord record) {
    out_.records.push_back(std::move(record));
    out_.lines.emplace_back();
    out_.broken.push_back(false);
    return out_.records.size() - 1;
  }

  OpenRecord& open_record(const CsvRow& row, long long pulse, const std::string& where) {
    const std::string device = columns_.cell(row, device_at), cycle = columns_.cell(row, cycle_at);
    const auto [at, fresh] = open_.try_emplace({device, cycle});
    OpenRecord& open = at->second;
    if (fresh) return open = {begin({device, cycle, {}}), pulse, pulse, false};
    if (pulse == open.last + 1) return open;
    if (pulse == open.first && may_restart(out_.records[open.at].pulses, row, where)) {
      ++restarts_;
      const std::string name =
          columns_.found.has(cycle_at) ? cycle : fmt::format("{}", std::max(restarts_of_[device] += 1, 1) + 1);
      return open = {begin({device, name, {}}), pulse, pulse, false};
    }
    csv_fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one)",
                                pulse, open.last, pulse > open.last ? "a gap" : "not increasing"));
  }

  /// True where a new count is a new record: no column of cycles, or the other direction.
  bool may_restart(const PulseRecord& record, const CsvRow& row, const std::string& where) const {
    if (record.pulses() == 0) return false;
    if (!columns_.found.has(cycle_at)) return true;
    const std::string direction = columns_.cell(row, direction_at);
    return !direction.empty() && direction_of(direction, where) != record.direction.back();
  }

  const PulseColumns& columns_;
  Understood& said_;
  RowsOfRecords out_;
  std::map<std::pair<std::string, std::string>, OpenRecord> open_;
  std::map<std::string, int> restarts_of_;
  int restarts_ = 0;
};

/// Range of a record and its largest move against the way that it goes.
struct Way {
  double range = 0, back = 0;
  bool rises = true;
};

Way way_of(const std::vector<double>& g) {
  const auto [low, high] = std::minmax_element(g.begin(), g.end());
  Way way{*high - *low, 0, g.back() > g.front()};
  double ahead = g.front();
  for (const double value : g) {
    ahead = way.rises ? std::max(ahead, value) : std::min(ahead, value);
    way.back = std::max(way.back, std::abs(ahead - value));
  }
  return way;
}

/// Gives records without directions that of their way: all pulses of one that rises go up.
void take_ways(const std::string& file, RowsOfRecords& rows, Understood& said) {
  constexpr double most_back = 0.1;  // of its range: noise of reads, not pulses the other way
  std::size_t rising = 0;
  for (std::size_t k = 0; k < rows.records.size(); ++k) {
    PulseRecord& record = rows.records[k].pulses;
    const Way way = way_of(record.conductance_S);
    if (way.back > most_back * way.range || way.range == 0) {
      csv_fail(
          fmt::format("{}:{}", file, rows.lines[k].front()),
          fmt::format("column \"direction\" is missing, and this record {}: write up or down (+1, -1) for the pulse "
                      "before each value, or volts of either sign",
                      way.range == 0 ? "never changes" : "goes both ways"));
    }
    record.direction.assign(record.conductance_S.size(), way.rises ? Direction::up : Direction::down);
    rising += way.rises ? 1 : 0;
  }
  said.notes.push_back(fmt::format("no column direction: {} records rise, their pulses go up; {} fall, theirs go down",
                                   rising, rows.records.size() - rising));
}

/// Notes of first pulses behind a turn that are much larger than those that follow: a drop between two ramps looks so.
void note_turns(const RowsOfRecords& rows, std::vector<std::string>& notes) {
  constexpr double larger = 3;
  constexpr std::size_t looked = 5;
  for (std::size_t k = 0; k < rows.records.size(); ++k) {
    const PulseRecord& r = rows.records[k].pulses;
    const auto step = [&](std::size_t i) { return std::abs(r.conductance_S[i] - r.conductance_S[i - 1]); };
    for (std::size_t i = 2; i + looked < r.conductance_S.size(); ++i) {
      double next = 0;
      bool run = r.direction[i] != r.direction[i - 1];
      for (std::size_t n = i + 1; n <= i + looked && run; ++n) {
        run = r.direction[n] == r.direction[i];
        next = std::max(next, step(n));
      }
      if (!run || step(i) < larger * next) continue;
      const std::string place =
          rows.lines[k].empty() ? fmt::format("pulse {}", i) : fmt::format("line {}", rows.lines[k][i]);
      notes.push_back(fmt::format(
          "{}: the first pulse {} changes {:.3g} uS, the next {} at most {:.3g} uS: did the conductance drift between "
          "two ramps? Then give each ramp a cycle of its own",
          place, r.direction[i] == Direction::up ? "up" : "down", 1e6 * step(i), looked, 1e6 * next));
      if (notes.size() > 4) return;  // the reader has understood
    }
  }
}

}  // namespace

void check_records(const std::vector<LabRecord>& records, const std::string& name) {
  struct Count {
    std::size_t up = 0, down = 0;
  };
  std::map<std::string, Count> count;
  if (records.empty()) count[""] = {};
  for (const LabRecord& one : records) {
    Count& own = count[one.device];
    for (std::size_t i = 1; i < one.pulses.direction.size(); ++i) {
      ++(one.pulses.direction[i] == Direction::up ? own.up : own.down);
    }
    if (one.pulses.pulses() > 0) continue;
    const std::string cycle = one.cycle.empty() ? "" : fmt::format(", cycle {}", one.cycle);
    csv_fail(name, fmt::format("device {}{}: no pulse (at least 2 of each direction that was measured, 4 in all, and a "
                               "conductance before the first are needed)",
                               one.device, cycle));
  }
  for (const auto& [device, own] : count) {
    if (own.up + own.down >= 4 && own.up != 1 && own.down != 1) continue;
    csv_fail(device.empty() ? name : fmt::format("{}: device {}", name, device),
             fmt::format("{} pulses up and {} down (at least 2 of each direction that was measured, 4 in all, and a "
                         "conductance before the first are needed)",
                         own.up, own.down));
  }
}

std::vector<LabRecord> parse_lab_rows(std::string_view bytes, const std::string& name, const CsvScale& scale,
                                      TableLook& look) {
  MeasuredText text = read_measured_text(bytes, name);
  if (!look.columns.empty() && text.header.cells.empty()) name_by_place(text);
  if (text.empty() && text.header.cells.empty()) {
    csv_fail(name, "empty (the first line must be pulse,conductance,direction)");
  }
  if (is_up_down_csv(text)) {
    const RowsOfRecords rows{parse_up_down_csv(text, scale), {{}}, {}};
    look.understood.push_back(layout_of(text));
    const auto& names = text.header.cells;
    for (const std::size_t c : {names.size() > 2 ? 1 : 0, names.size() > 2 ? 2 : 1}) {
      look.understood.back().columns.push_back({c + 1 < std::max<std::size_t>(names.size(), 2) ? "up" : "down",
                                                names.empty() ? fmt::format("COL{}", c + 1) : names[c], ""});
    }
    note_turns(rows, look.understood.back().notes);
    return rows.records;
  }
  if (scale.high_S > 0) csv_fail(name, "--window is for files of two columns, up and down, without units");
  if (text.header.cells.empty()) {
    csv_fail(text.place(text.line(0)),
             "a table without names of its columns (write pulse,conductance,direction above it)");
  }
  const PulseColumns at = columns_of(text, scale, look);
  Understood& said = look.understood.back();
  RecordSorter sorter(at, said);
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const std::size_t columns = text.header.cells.size();
    if (row.cells.size() != columns)
      csv_fail(text.place(row), fmt::format("{} cells, the header has {}", row.cells.size(), columns));
    sorter.add(row, text.place(row));
  }
  RowsOfRecords rows = sorter.done();
  if (!at.found.has(voltage_at) && !at.found.has(direction_at)) take_ways(name, rows, said);
  note_turns(rows, said.notes);
  return std::move(rows.records);
}

std::vector<LabRecord> parse_lab_csv(std::string_view bytes, const std::string& name, const CsvScale& scale,
                                     TableLook* look) {
  TableLook unasked;
  std::vector<LabRecord> records = parse_lab_rows(bytes, name, scale, look != nullptr ? *look : unasked);
  check_records(records, name);
  return records;
}

bool is_pulse_csv(std::string_view bytes, const std::string& name) {
  std::vector<LongColumn> known = pulse_columns();
  add_conductance(known);
  return names_columns(read_measured_text(bytes, name), known);
}

std::vector<LabRecord> read_lab_csv(const std::string& path, const CsvScale& scale) {
  return parse_lab_csv(read_csv_text(path), path, scale);
}

}  // namespace nudge
