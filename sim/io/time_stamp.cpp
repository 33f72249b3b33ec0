// SPDX-License-Identifier: Apache-2.0
#include "sim/io/time_stamp.hpp"

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

}  // namespace

std::optional<double> time_stamp_s(const std::string& cell) {
  Rest rest{cell};
  const int year = rest.digits(4);
  const bool dash = rest.text.starts_with('-');
  if (year < 1970 || !rest.take("-/")) return {};
  const int month = rest.digits(2);
  if (!rest.take(dash ? "-" : "/")) return {};
  const int day = rest.digits(2);
  const auto date = std::chrono::year{year} / month / day;
  if (month < 1 || day < 1 || !date.ok() || !rest.take("T ")) return {};
  const int hour = rest.digits(2);
  if (hour < 0 || hour > 23 || !rest.take(":")) return {};
  const int minute = rest.digits(2);
  if (minute < 0 || minute > 59) return {};
  double second = 0;
  if (rest.take(":")) {
    second = rest.digits(2);
    if (second < 0 || second > 60) return {};
    if (rest.take(".,")) second += rest.fraction();
  }
  const std::optional<int> ahead = zone_minutes(rest);
  if (!ahead || !rest.text.empty()) return {};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) + 3600.0 * hour + 60.0 * (minute - *ahead) + second;
}

}  // namespace nudge
