// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "devices/fit/long_table.hpp"
#include "sim/base/statistics.hpp"

namespace nudge {
namespace {

constexpr std::size_t least_reads = 256;  // two decades of frequencies
constexpr double widest_gap = 1.5;        // of the median interval: more is a missing read

enum ReadColumns : std::size_t { cell_at, time_at, conductance_at, level_at };

const std::vector<LongColumn>& read_columns() {
  static const std::vector<LongColumn> columns = {{"cell", Unit::none, false},
                                                  {"time", Unit::second, true},
                                                  {"conductance", Unit::siemens, true},
                                                  {"level", Unit::none, false}};
  return columns;
}

const std::vector<std::string> bare_columns = {"cell", "time", "conductance", "level"};

void check_record(const ReadRecord& record) {
  const std::vector<double>& g = record.conductance_S;
  if (g.size() < least_reads) {
    csv_fail(record.where, fmt::format("{} reads of one cell (at least {} are needed)", g.size(), least_reads));
  }
  if (std::all_of(g.begin(), g.end(), [&](double x) { return x == g.front(); })) {
    csv_fail(record.where, fmt::format("all {} reads are {:g} S: there is no noise to fit", g.size(), g.front()));
  }
}

/// Rows of numbers: level, offset, reads.
std::vector<ReadRecord> parse_rows(const MeasuredText& text, double rate_Hz) {
  const LongColumn level{"level", Unit::none, true};
  const LongColumn read{"conductance", Unit::siemens, true};
  std::vector<ReadRecord> records;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    ReadRecord record{0, 1 / rate_Hz, {}, text.place(row)};
    record.level = long_table_number(row.cells[0], level, 1, record.where);
    for (std::size_t c = 2; c < row.cells.size(); ++c) {
      record.conductance_S.push_back(long_table_number(row.cells[c], read, 1, record.where));
    }
    check_record(record);
    records.push_back(std::move(record));
  }
  return records;
}

struct TimedRead {
  double time_s = 0;
  std::size_t row = 0;
};

ReadRecord record_of(const LongTable& table, std::vector<TimedRead> reads) {
  const auto where = [&](std::size_t k) { return fmt::format("{}:{}", table.file, table.lines[reads[k].row]); };
  std::stable_sort(reads.begin(), reads.end(),
                   [](const TimedRead& a, const TimedRead& b) { return a.time_s < b.time_s; });
  ReadRecord record{0, 0, {}, where(0)};
  for (const TimedRead& read : reads) record.conductance_S.push_back(table.columns[conductance_at][read.row]);
  check_record(record);
  std::vector<double> intervals;
  for (std::size_t k = 1; k < reads.size(); ++k) {
    intervals.push_back(reads[k].time_s - reads[k - 1].time_s);
    if (intervals.back() <= 0) {
      csv_fail(where(k),
               fmt::format("time {:g} s occurs twice for one cell (name the cells in a column cell)", reads[k].time_s));
    }
  }
  const double usual = upper_median(intervals);
  for (std::size_t k = 0; k < intervals.size(); ++k) {
    if (intervals[k] <= widest_gap * usual) continue;
    csv_fail(where(k + 1), fmt::format("a gap of {:g} s where reads are {:g} s apart (a spectrum needs equal steps)",
                                       intervals[k], usual));
  }
  record.interval_s = (reads.back().time_s - reads.front().time_s) / static_cast<double>(intervals.size());
  return record;
}

std::vector<ReadRecord> records_of(const LongTable& table) {
  const bool cells = !table.columns[cell_at].empty();
  const bool levels = !table.columns[level_at].empty();
  std::map<std::pair<double, double>, std::vector<TimedRead>> all;
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const double cell = cells ? table.columns[cell_at][i] : 0;
    const double level = levels ? table.columns[level_at][i] : cell;
    all[{level, cell}].push_back({table.columns[time_at][i], i});
  }
  std::vector<ReadRecord> records;
  for (auto& [key, reads] : all) {
    records.push_back(record_of(table, std::move(reads)));
    records.back().level = key.first;
  }
  return records;
}

}  // namespace

std::vector<ReadRecord> parse_read_records(std::string_view bytes, const std::string& file, double rate_Hz,
                                           TableLook& look) {
  const MeasuredText text = read_measured_text(bytes, file);
  const bool rows = look.columns.empty() && text.header.cells.empty() && !text.empty() &&
                    text.row(0).cells.size() > bare_columns.size();
  if (rows && look.read_voltage_V != 0)
    csv_fail(file, "--read-voltage is for a column of currents: these are rows of conductances");
  if (rows) return parse_rows(text, rate_Hz > 0 ? rate_Hz : published_rate_Hz);
  if (rate_Hz > 0) csv_fail(file, "--rate is for rows of reads: this table has its times in a column");
  return records_of(parse_long_table(bytes, file, read_columns(), bare_columns, look));
}

}  // namespace nudge
