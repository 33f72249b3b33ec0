// SPDX-License-Identifier: Apache-2.0
// Times of a table: dates, clocks, and seconds since the programming of a cell.
#include "devices/fit/table_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace nudge {
namespace {

/// What the dates of a column tell that end with the year: lines of the first one, and of those that tell their order.
struct DateLines {
  int first = 0, day_line = 0, month_line = 0;
  std::string example = {};

  bool told() const { return day_line > 0 || month_line > 0; }
  DateOrder order() const {
    return day_line > 0 ? DateOrder::day_first : month_line > 0 ? DateOrder::month_first : DateOrder::year_first;
  }
};

/// A field above 12 is a day: one such row tells. Points stand behind days first ("31.01.2026", DIN 1355).
DateLines date_lines(const MeasuredText& text, std::size_t place) {
  DateLines lines;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const auto front = place < row.cells.size() ? date_front(row.cells[place]) : std::optional<DateFront>();
    if (i == 0 && !front) return lines;
    if (!front) continue;
    if (lines.first == 0) lines.first = row.line, lines.example = row.cells[place];
    if (lines.day_line == 0 && (front->first > 12 || front->points)) lines.day_line = row.line;
    if (lines.month_line == 0 && front->second > 12) lines.month_line = row.line;
  }
  if (lines.day_line > 0 && lines.month_line > 0) {
    csv_fail(
        text.place(std::max(lines.day_line, lines.month_line)),
        fmt::format("this date has the month and the day in another order than line {} (write 2026-01-31 14:05:09)",
                    std::min(lines.day_line, lines.month_line)));
  }
  return lines;
}

}  // namespace

std::vector<DateOrder> date_orders(const MeasuredText& text, const std::vector<LongColumn>& known,
                                   const FoundColumns& found, Understood& said) {
  std::vector<DateLines> lines(known.size());
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (known[k].unit == Unit::second && found.has(k)) lines[k] = date_lines(text, found.place[k]);
  }
  const auto teller = std::find_if(lines.begin(), lines.end(), [](const DateLines& one) { return one.told(); });
  std::vector<DateOrder> orders;
  for (const DateLines& own : lines) {
    if (own.first > 0 && teller == lines.end()) {
      const DateFront front = *date_front(own.example);
      csv_fail(text.place(own.first),
               fmt::format("\"{}\" may be month {} and day {}, or month {} and day {}: write the year first "
                           "(2026-01-31 14:05:09), or seconds",
                           own.example, front.first, front.second, front.second, front.first));
    }
    orders.push_back(own.first > 0 && !own.told() ? teller->order() : own.order());
  }
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const DateLines& own = lines[k];
    const bool said_before = std::find(orders.begin(), orders.begin() + static_cast<std::ptrdiff_t>(k), orders[k]) !=
                             orders.begin() + static_cast<std::ptrdiff_t>(k);
    if (!own.told() || said_before) continue;
    said.notes.push_back(own.day_line > 0 ? fmt::format("dates are day, month, year: line {} tells", own.day_line)
                                          : fmt::format("dates are month, day, year: line {} tells", own.month_line));
  }
  return orders;
}

std::size_t place_among(const std::vector<LongColumn>& known, const char* name) {
  const auto own = std::find_if(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == name; });
  return static_cast<std::size_t>(own - known.begin());
}

const Clock* clock_of(double number) {
  // Ticks of 100 ns since 1601 (Windows) and since the year 1 (.NET).
  static constexpr std::array<Clock, 5> clocks = {{{1e12, 5e12, 1e-3, "Unix time in milliseconds"},
                                                   {1e15, 5e15, 1e-6, "Unix time in microseconds"},
                                                   {1e18, 5e18, 1e-9, "Unix time in nanoseconds"},
                                                   {1.26e17, 1.67e17, 1e-7, "ticks of Windows, 100 ns"},
                                                   {6.31e17, 6.72e17, 1e-7, "ticks of .NET, 100 ns"}}};
  const auto own = std::find_if(clocks.begin(), clocks.end(),
                                [&](const Clock& one) { return number >= one.low && number <= one.high; });
  return own == clocks.end() ? nullptr : &*own;
}

void take_clocks(const std::vector<LongColumn>& known, LongTable& table, Understood& said) {
  const Clock* noted = nullptr;
  for (const char* name : {"time", "programming_time"}) {
    const std::size_t place = place_among(known, name);
    if (place == known.size()) continue;
    for (double& time : table.columns[place]) {
      const Clock* clock = clock_of(time);
      if (clock == nullptr) continue;
      time *= clock->second;
      noted = clock;
    }
  }
  if (noted != nullptr) said.notes.push_back(fmt::format("times are {}", noted->name));
}

namespace {

/// Calendar whose days a spreadsheet or program writes as numbers.
struct Calendar {
  double low, high;  ///< days from 1998 to 2146
  const char* name;
};

const Calendar* calendar_of(double number) {
  static constexpr std::array<Calendar, 3> calendars = {
      {{35800, 90000, "days of a spreadsheet"}, {729700, 784000, "days of MATLAB"}, {2450800, 2505000, "Julian days"}}};
  const auto own = std::find_if(calendars.begin(), calendars.end(),
                                [&](const Calendar& one) { return number >= one.low && number <= one.high; });
  return own == calendars.end() ? nullptr : &*own;
}

/// Column of times that may be days of a calendar: the first of its cells, and its line.
struct CalendarCell {
  std::string cell;
  int line = 0;
  const Calendar* calendar = nullptr;
};

std::optional<CalendarCell> calendar_cell(const MeasuredText& text, std::size_t place) {
  CsvRow row;
  CalendarCell first;
  double number = 0;
  bool differ = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (place >= row.cells.size()) return {};  // told where rows are read
    char* end = nullptr;
    const double own = std::strtod(row.cells[place].c_str(), &end);
    if (i == 0) first = {row.cells[place], row.line, calendar_of(own)}, number = own;
    if (*end != 0 || first.calendar == nullptr || calendar_of(own) != first.calendar) return {};
    if (std::abs(own - number) > 0.1 * number) return {};
    differ = differ || own != number;
  }
  return differ ? std::optional(first) : std::nullopt;
}

}  // namespace

void refuse_calendar_days(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found) {
  std::optional<CalendarCell> first;
  std::string days, seconds;
  for (const char* name : {"time", "programming_time"}) {
    const std::size_t k = place_among(known, name);
    if (k == known.size() || !found.has(k) || !found.unit[k].empty()) continue;
    const std::optional<CalendarCell> own = calendar_cell(text, found.place[k]);
    if (!own) continue;
    const std::string choice =
        fmt::format("{}{}={} ", days.empty() ? "" : ",", name, text.header.cells[found.place[k]]);
    days += choice + "d";
    seconds += choice + "s";
    if (!first) first = own;
  }
  if (!first) return;
  csv_fail(text.place(first->line),
           fmt::format("time {} may be {}, or seconds: say which with --columns \"{}\" or \"{}\"", first->cell,
                       first->calendar->name, days, seconds));
}

std::optional<double> date_of(const std::string& cell, const std::string& unit, DateOrder order) {
  if (const auto stamp = time_stamp_s(cell, order)) return stamp;
  const bool marked = cell.size() > 8 && cell[8] == 'T';
  return unit.empty() || marked ? compact_stamp_s(cell) : std::nullopt;
}

namespace {

/// Cells of a column that may be HHMMSS.
struct CompactTimes {
  std::string cell = {};  ///< the first
  int line = 0;
  bool padded = false;
  std::size_t odd = 0;  ///< cells that are no full minutes
  std::set<std::string> values = {};

  bool tell() const { return padded || (values.size() > 3 && 2 * odd > values.size()); }
};

/// Nothing: some cell is another number.
std::optional<CompactTimes> compact_times(const MeasuredText& text, std::size_t place) {
  CompactTimes out;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (place >= row.cells.size()) return {};
    const std::string& cell = row.cells[place];
    if (cell.empty() || cell.size() > 6 || cell.find_first_not_of("0123456789") != std::string::npos) return {};
    const long number = std::strtol(cell.c_str(), nullptr, 10);
    if (number % 100 > 59 || number / 100 % 100 > 59 || number > 235959) return {};
    if (out.values.insert(cell).second && number % 100 != 0) ++out.odd;
    out.padded = out.padded || (cell.size() == 6 && cell[0] == '0' && number > 0);
    if (out.cell.size() < cell.size()) out.cell = cell, out.line = row.line;
  }
  return out.cell.size() > 4 ? std::optional(out) : std::nullopt;
}

}  // namespace

void refuse_times_of_day(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found) {
  for (const char* name : {"time", "programming_time"}) {
    const std::size_t k = place_among(known, name);
    if (k == known.size() || !found.has(k) || text.empty()) continue;
    const CsvRow first = text.row(0);
    if (found.place[k] < first.cells.size() && is_time_of_day(first.cells[found.place[k]])) {
      csv_fail(
          text.place(first),
          fmt::format("{} \"{}\" is a time of day, or hours and minutes that have passed: write its date before it "
                      "(2026-01-31 14:05:09), or seconds",
                      name, first.cells[found.place[k]]));
    }
    if (!found.unit[k].empty()) continue;
    const std::optional<CompactTimes> own = compact_times(text, found.place[k]);
    if (!own || !own->tell()) continue;
    const std::string full = std::string(6 - own->cell.size(), '0') + own->cell;
    csv_fail(text.place(own->line),
             fmt::format("{} {} may be a time of day, {}:{}:{}, or seconds. For a time write its date too "
                         "(2026-01-31 14:05:09); for seconds say --columns \"{}={} s\"",
                         name, own->cell, full.substr(0, 2), full.substr(2, 2), full.substr(4), name,
                         text.header.cells[found.place[k]]));
  }
}

void count_from_programming(const std::vector<LongColumn>& known, LongTable& table, Understood& said) {
  const std::size_t time_place = place_among(known, "time"), cell_place = place_among(known, "cell");
  if (time_place == known.size()) return;
  std::vector<double>& time = table.columns[time_place];
  const std::vector<double>& from = table.columns[place_among(known, "programming_time")];
  const auto stamps = std::count_if(time.begin(), time.end(), is_clock_time);
  if (stamps == 0 && from.empty()) return;
  const auto where = [&](std::size_t i) { return fmt::format("{}:{}", table.file, table.lines[i]); };
  std::map<double, double> first;
  for (std::size_t i = 0; i < time.size(); ++i) {
    const bool stamp = is_clock_time(time[i]);
    if (stamp != (stamps > 0) || (!from.empty() && is_clock_time(from[i]) != stamp)) {
      csv_fail(where(i), fmt::format("time {:.10g} s {} a date: write dates (2026-01-31 14:05:09, or Unix seconds) in "
                                     "all rows of time and programming_time, or seconds in all",
                                     stamp ? from.empty() ? time[i] : from[i] : time[i], stamp ? "beside" : "is not"));
    }
    const double cell =
        cell_place < known.size() && !table.columns[cell_place].empty() ? table.columns[cell_place][i] : 0;
    const auto [at, fresh] = first.emplace(cell, time[i]);
    at->second = std::min(at->second, time[i]);
  }
  for (std::size_t i = 0; i < time.size(); ++i) {
    const double cell =
        cell_place < known.size() && !table.columns[cell_place].empty() ? table.columns[cell_place][i] : 0;
    time[i] -= from.empty() ? first.at(cell) : from[i];
    if (time[i] < 0) csv_fail(where(i), fmt::format("this row is {:.6g} s before its programming_time", -time[i]));
  }
  said.notes.push_back(fmt::format(
      "times count from {}", from.empty() ? "the first row of their cell, as its programming" : "programming_time"));
}

}  // namespace nudge
