// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace nudge {

/// Order of the fields of a date.
enum class DateOrder { year_first, day_first, month_first };

/// Seconds since 1970 (UTC) of a date with a time, as instruments write them: "2026-01-31 14:05", "2026-01-31T14:05:09.25Z",
/// "2026/01/31 14:05:09", "2026-01-31T14:05:09+01:00" (ISO 8601). Without a zone UTC is taken, which falls out of differences.
/// With day_first also "31/01/2026 14:05:09" and "31.1.2026 14:05", with month_first "1/31/2026 2:05:09 PM". "31-Jan-2026 14:05" is read in
/// any order. Nothing for other texts.
std::optional<double> time_stamp_s(const std::string& cell, DateOrder order = DateOrder::year_first);

/// Seconds since 1970 of a compact date (ISO 8601, basic format): "20260131140509", "202601311405", "20260131T140509.25Z". The digits alone
/// may also be a number: a caller takes them where no unit is told.
std::optional<double> compact_stamp_s(const std::string& cell);

/// True of a date without a time: "2026-01-31", "31.01.2026".
bool is_day(const std::string& cell);

/// True of "14:05", "14:05:09" and "2:05 PM", a time of day or hours and minutes that have passed.
bool is_time_of_day(const std::string& cell);

/// First two fields of a date that ends with the year ("31/01/2026"), and whether points are between them. Which is the day such a date does not
/// say, unless one is above 12. Nothing for other texts.
struct DateFront {
  int first = 0, second = 0;
  bool points = false;
};
std::optional<DateFront> date_front(const std::string& cell);

/// True of seconds of a clock, which count from 1970, 1904, 1601 or the year 0: above 31 years. No measurement takes so long.
inline bool is_clock_time(double seconds) { return seconds >= 1e9 && seconds <= 3e11; }

}  // namespace nudge
