// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "devices/fit/long_table.hpp"
#include "sim/io/time_stamp.hpp"

namespace nudge {

/// Place of a column among the known ones; their number: it is none of them.
std::size_t place_among(const std::vector<LongColumn>& known, const char* name);

/// Order of the dates of each column. A column of which no row tells has the order of another one that ends with the year.
/// UserError where neither tells, or where rows of a column tell different orders.
std::vector<DateOrder> date_orders(const MeasuredText& text, const std::vector<LongColumn>& known,
                                   const FoundColumns& found, Understood& said);

/// Clock of a computer whose numbers no measurement takes for seconds.
struct Clock {
  double low, high;  ///< its numbers from 2001 to 2128
  double second;     ///< of one of its steps
  const char* name;
};
/// Clock of a number that would be seconds: Unix time in ms, us or ns, ticks of Windows and .NET (100 ns). Null: it is none.
const Clock* clock_of(double number);

/// Refuses a column of times without a unit that may be days of a calendar: spreadsheets (46085.9997 is 2026-03-04 23:59:31), MATLAB, Julian days.
/// All numbers lie between 1998 and 2146, and within a tenth of the first; at least two differ. The message has both readings.
void refuse_calendar_days(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found);

/// Seconds since 1970 of a cell that is a date: time_stamp_s(), or compact_stamp_s() if the column has no unit. Nothing: it is none.
std::optional<double> date_of(const std::string& cell, const std::string& unit,
                              DateOrder order = DateOrder::year_first);

/// Refuses columns of times of day without their date: 23:59:31, and HHMMSS (235931) where no unit is told. HHMMSS are whole numbers whose minutes
/// and seconds are below 60 in all rows, with a zero before a number or most of them not full minutes. The message has both readings.
void refuse_times_of_day(const MeasuredText& text, const std::vector<LongColumn>& known, const FoundColumns& found);

/// Turns times of a clock_of() into seconds.
void take_clocks(const std::vector<LongColumn>& known, LongTable& table, Understood& said);

/// Counts times that are stamps from the programming of their cell: a column, or the cell's first row.
void count_from_programming(const std::vector<LongColumn>& known, LongTable& table, Understood& said);

}  // namespace nudge
