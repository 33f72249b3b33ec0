// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cmath>
#include <cstdlib>
#include <map>

#include "devices/fit/column_words.hpp"
#include "devices/fit/outlying_readings.hpp"
#include "devices/fit/pulse_rows.hpp"
#include "devices/fit/table_times.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

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
      csv_fail(fmt::format("{}:{}", file, rows.lines[k].front()),
               fmt::format(
                   "column \"direction\" is missing, and this record {}. Write up or down (+1, -1) for the pulse "
                   "before each value, or volts of either sign (another column of them: --columns \"direction=NAME\")",
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

/// Refuses records whose pulses change the conductance against their direction: a voltage whose sign has the other meaning. Changes count by
/// their size: at the end of a saturated ramp half of them are noise. None counts more than nine in ten others, so no single reading decides.
void refuse_reversed(const std::string& file, const RowsOfRecords& rows) {
  constexpr std::size_t least = 10;  // pulses
  constexpr double most = 0.8;       // of all changes; noise alone makes a half
  struct Changes {
    std::vector<double> along;
    double range = 0;
  };
  std::map<std::string, Changes> devices;
  for (const LabRecord& one : rows.records) {
    const PulseRecord& r = one.pulses;
    Changes& own = devices[one.device];
    const auto [low, high] = std::minmax_element(r.conductance_S.begin(), r.conductance_S.end());
    own.range = std::max(own.range, *high - *low);
    for (std::size_t i = 1; i < r.conductance_S.size(); ++i) {
      const double change = r.conductance_S[i] - r.conductance_S[i - 1];
      if (change != 0) own.along.push_back(r.direction[i] == Direction::up ? change : -change);
    }
  }
  for (const auto& [name, own] : devices) {
    if (own.along.size() < least) continue;
    std::vector<double> sizes;
    for (const double change : own.along) sizes.push_back(std::abs(change));
    const auto tenth = sizes.begin() + static_cast<std::ptrdiff_t>(9 * sizes.size() / 10);
    std::nth_element(sizes.begin(), tenth, sizes.end());
    double against = 0, way = 0;
    for (const double change : own.along) {
      const double size = std::min(std::abs(change), *tenth);
      way += size;
      against += change < 0 ? size : 0;
    }
    if (against < most * way || 2 * against - way < 0.5 * own.range) continue;
    const bool several = devices.size() > 1;
    csv_fail(several ? fmt::format("{}: device {}", file, name) : file,
             fmt::format("{:.0f} % of what the pulses change goes against their direction: is the sign of the voltage "
                         "the other one, or 1 for down? {}",
                         100 * against / way,
                         several ? "\"polarity=reversed\" in --columns turns all devices; else correct this one"
                                 : "Say --columns \"polarity=reversed\""));
  }
}

/// Refuses conductances without a unit that would be large.
void check_untold(const MeasuredText& text, const PulseColumns& at, const RowsOfRecords& rows) {
  double most_S = 0;
  int line = 0;
  for (std::size_t k = 0; k < rows.records.size(); ++k) {
    const std::vector<double>& g = rows.records[k].pulses.conductance_S;
    for (std::size_t i = 0; i < g.size() && i < rows.lines[k].size(); ++i) {
      if (g[i] > most_S) most_S = g[i], line = rows.lines[k][i];
    }
  }
  CsvRow row;
  bool in_cell = false;
  for (std::size_t i = 0; i < text.size() && most_S > kMostUntold_S; ++i) {
    if (text.line(i) != line) continue;
    text.row(i, row);
    in_cell = !named_unit("x " + at.cell(row, at.reading())).unit.empty();
  }
  if (!in_cell) refuse_untold_unit(text, at.found, at.read, most_S, line);
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
  text.leave_blank_rows();
  std::vector<LongColumn> known = pulse_columns();
  add_conductance(known);
  take_commented_names(text, known);
  if (!look.columns.empty() && text.header.cells.empty()) name_by_place(text);
  if (text.empty() && text.header.cells.empty()) {
    csv_fail(name, "empty (the first line must be pulse,conductance,direction)");
  }
  if (is_up_down_csv(text)) {
    const RowsOfRecords rows{parse_up_down_csv(text, scale), {{}}, {}};
    look.understood.push_back(layout_of(text));
    const auto& names = text.header.cells;
    const std::size_t first = names.size() > 2 ? 1 : 0;
    for (const std::size_t c : {first, first + 1}) {
      const auto told = names.empty() ? std::nullopt : direction_word(named_unit(names[c]).name);
      const bool up = told ? *told == Direction::up : c == first;
      look.understood.back().columns.push_back({up ? "up" : "down", names.empty() ? place_name(c) : names[c], ""});
    }
    note_turns(rows, look.understood.back().notes);
    return rows.records;
  }
  if (scale.high_S > 0) csv_fail(name, "--window is for files of two columns, up and down, without units");
  if (text.header.cells.empty()) {
    csv_fail(text.place(text.line(0)),
             "a table without names of its columns (write pulse,conductance,direction above it)");
  }
  const PulseColumns at = pulse_columns_of(text, scale, look);
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
  const auto waits = [](const LabRecord& one) { return !one.pulses.waits.empty(); };
  if (std::any_of(rows.records.begin(), rows.records.end(), waits)) {
    refuse_calendar_days(text, pulse_columns(), at.found);
    refuse_times_of_day(text, pulse_columns(), at.found);
  }
  check_untold(text, at, rows);
  if (!at.found.has(voltage_at) && !at.found.has(direction_at)) take_ways(name, rows, said);
  refuse_reversed(name, rows);
  note_turns(rows, said.notes);
  check_outliers(rows, name, said.notes);
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
  MeasuredText text = read_measured_text(bytes, name);
  take_commented_names(text, known);
  return names_columns(text, known);
}

std::vector<LabRecord> read_lab_csv(const std::string& path, const CsvScale& scale) {
  return parse_lab_csv(read_csv_text(path), path, scale);
}

}  // namespace nudge
