// SPDX-License-Identifier: Apache-2.0
#include "sim/io/time_stamp.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string_view>

namespace nudge {
namespace {

/// Text that is read from its front.
struct Rest {
  std::string_view text;

  bool take(std::string_view any) {
    if (text.empty() || any.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
  }
  /// Whole number of so many digits; −1: there are no such digits.
  int digits(std::size_t count) {
    int value = -1;
    if (text.size() < count || text[0] < '0' || text[0] > '9') return -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + count, value);
    if (error != std::errc() || end != text.data() + count) return -1;
    text.remove_prefix(count);
    return value;
  }
  double fraction() {
    double value = 0, place = 0.1;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; place /= 10) value += place * digits(1);
    return value;
  }
};

/// Minutes ahead of UTC; nothing: no zone.
std::optional<int> zone_minutes(Rest& rest) {
  if (rest.text.empty() || rest.take("Zz")) return 0;
  const int sign = rest.text[0] == '-' ? -1 : 1;
  if (!rest.take("+-")) return {};
  const int hours = rest.digits(2);
  rest.take(":");
  const int minutes = rest.text.empty() ? 0 : rest.digits(2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return {};
  return sign * (60 * hours + minutes);
}

/// Whole number of one or two digits; −1: there is none.
int one_or_two(Rest& rest) {
  const bool two = rest.text.size() > 1 && rest.text[1] >= '0' && rest.text[1] <= '9';
  return rest.digits(two ? 2 : 1);
}

/// Two fields and a year behind them.
struct YearLast {
  DateFront front;
  int year = 0;
};

std::optional<YearLast> take_year_last(Rest& rest) {
  YearLast out;
  out.front.first = one_or_two(rest);
  if (rest.text.empty()) return {};
  const char mark = rest.text.front();
  out.front.points = mark == '.';
  if (out.front.first < 1 || !rest.take("/.-")) return {};
  out.front.second = one_or_two(rest);
  if (out.front.second < 1 || !rest.take(std::string_view(&mark, 1))) return {};
  const bool short_year = out.front.points && rest.text.find_first_not_of("0123456789") == 2;  // 31.01.26
  out.year = short_year ? 2000 + rest.digits(2) : rest.digits(4);
  if (out.year < 1970 || (!rest.text.empty() && rest.text.front() != ' ' && rest.text.front() != 'T')) return {};
  return out;
}

/// Hours to add for "AM" or "PM" behind the time; nothing: neither is there.
std::optional<int> half_day(Rest& rest, int hour) {
  if (rest.text != " AM" && rest.text != " PM" && rest.text != " am" && rest.text != " pm") return {};
  const bool late = rest.text[1] == 'P' || rest.text[1] == 'p';
  rest.text = {};
  return (late ? 12 : 0) - (hour == 12 ? 12 : 0);
}

}  // namespace

std::optional<DateFront> date_front(const std::string& cell) {
  Rest rest{cell};
  const std::optional<YearLast> date = take_year_last(rest);
  return date ? std::optional(date->front) : std::nullopt;
}

namespace {

/// Day of a calendar.
struct CalendarDay {
  int year = 0, month = 0, day = 0;
};

/// "2026-01-31", "2026/01/31".
std::optional<CalendarDay> take_year_first(Rest& rest) {
  CalendarDay out;
  out.year = rest.digits(4);
  const bool dash = rest.text.starts_with('-');
  if (out.year < 1970 || !rest.take("-/")) return {};
  out.month = rest.digits(2);
  if (!rest.take(dash ? "-" : "/")) return {};
  out.day = rest.digits(2);
  return out;
}

/// "31-Jan-2026", "31 Jan 2026", in any case.
std::optional<CalendarDay> take_month_name(Rest& rest) {
  constexpr std::string_view names = "janfebmaraprmayjunjulaugsepoctnovdec";
  CalendarDay out;
  out.day = one_or_two(rest);
  if (out.day < 1 || !rest.take("- /.") || rest.text.size() < 3) return {};
  std::string name;
  for (const char c : rest.text.substr(0, 3)) name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  const std::size_t at = names.find(name);
  if (at == std::string_view::npos || at % 3 != 0) return {};
  out.month = static_cast<int>(at / 3) + 1;
  rest.text.remove_prefix(3);
  if (!rest.take("- /.")) return {};
  out.year = rest.digits(4);
  return out;
}

std::optional<CalendarDay> take_day(Rest& rest, DateOrder order) {
  const Rest front = rest;
  if (const auto named = take_month_name(rest)) return named;
  rest = front;
  if (order == DateOrder::year_first) return take_year_first(rest);
  const std::optional<YearLast> date = take_year_last(rest);
  if (!date) return {};
  const bool day_first = order == DateOrder::day_first;
  return CalendarDay{date->year, day_first ? date->front.second : date->front.first,
                     day_first ? date->front.first : date->front.second};
}

/// Seconds since 1970 of a day and a time; nothing: there is no such day.
std::optional<double> seconds_of(const CalendarDay& at, int hour, int minute, double second) {
  const auto date = std::chrono::year{at.year} / at.month / at.day;
  if (at.month < 1 || at.day < 1 || !date.ok()) return {};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) + 3600.0 * hour + 60.0 * minute + second;
}

}  // namespace

std::optional<double> compact_stamp_s(const std::string& cell) {
  Rest rest{cell};
  CalendarDay at;
  at.year = rest.digits(4);
  at.month = rest.digits(2);
  at.day = rest.digits(2);
  const bool mark = rest.take("T");
  const int hour = rest.digits(2), minute = rest.digits(2);
  if (at.year < 1970 || at.year > 2199 || hour < 0 || hour > 23 || minute < 0 || minute > 59) return {};
  double second = 0;
  if (!rest.text.empty() && rest.text[0] >= '0' && rest.text[0] <= '9') {
    second = rest.digits(2);
    if (second < 0 || second > 60) return {};
    if (rest.take(".,")) second += rest.fraction();
  }
  const std::optional<int> ahead = mark ? zone_minutes(rest) : std::optional(0);
  if (!ahead || !rest.text.empty()) return {};
  return seconds_of(at, hour, minute - *ahead, second);
}

bool is_time_of_day(const std::string& cell) {
  Rest rest{cell};
  const int hour = one_or_two(rest);
  if (hour < 0 || !rest.take(":") || rest.digits(2) < 0) return false;
  if (rest.take(":") && rest.digits(2) < 0) return false;
  if (rest.take(".,")) rest.fraction();
  return rest.text.empty() || half_day(rest, hour).has_value();
}

bool is_day(const std::string& cell) {
  constexpr std::array orders = {DateOrder::year_first, DateOrder::day_first, DateOrder::month_first};
  return std::any_of(orders.begin(), orders.end(),
                     [&](DateOrder order) { return time_stamp_s(cell + " 00:00", order).has_value(); });
}

std::optional<double> time_stamp_s(const std::string& cell, DateOrder order) {
  Rest rest{cell};
  const std::optional<CalendarDay> at = take_day(rest, order);
  if (!at || !rest.take("T ")) return {};
  int hour = one_or_two(rest);
  if (hour < 0 || hour > 23 || !rest.take(":")) return {};
  const int minute = rest.digits(2);
  if (minute < 0 || minute > 59) return {};
  double second = 0;
  if (rest.take(":")) {
    second = rest.digits(2);
    if (second < 0 || second > 60) return {};
    if (rest.take(".,")) second += rest.fraction();
  }
  if (order != DateOrder::year_first && hour >= 1 && hour <= 12) hour += half_day(rest, hour).value_or(0);
  const std::optional<int> ahead = zone_minutes(rest);
  if (!ahead || !rest.text.empty()) return {};
  return seconds_of(*at, hour, minute - *ahead, second);
}

}  // namespace nudge
