// SPDX-License-Identifier: Apache-2.0
#include "sim/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

struct UnitInfo {
  Unit unit;
  std::string_view name;
  std::string_view example;
  std::vector<std::string_view> spellings;  // the first is the symbol
};

const std::vector<UnitInfo>& unit_infos() {
  static const std::vector<UnitInfo> infos = {
      {Unit::none, "a pure number", "0.3\" or \"5 %", {"1"}},
      {Unit::siemens, "siemens (S)", "25 uS", {"S"}},
      {Unit::ohm, "ohms (Ohm)", "10 kOhm", {"Ohm", "ohm", "\u03a9", "\u2126"}},
      {Unit::volt, "volts (V)", "200 mV", {"V"}},
      {Unit::ampere, "amperes (A)", "5 uA", {"A"}},
      {Unit::farad, "farads (F)", "10 pF", {"F"}},
      {Unit::second, "seconds (s)", "100 ns", {"s"}},
      {Unit::hertz, "hertz (Hz)", "1 MHz", {"Hz"}},
      {Unit::joule, "joules (J)", "10 fJ", {"J"}},
      {Unit::watt, "watts (W)", "5 mW", {"W"}},
      {Unit::kelvin, "kelvins (K)", "300 K", {"K"}},
      {Unit::metre, "metres (m)", "50 nm", {"m"}},
  };
  return infos;
}

const UnitInfo& info_of(Unit unit) { return unit_infos()[static_cast<std::size_t>(unit)]; }

struct Prefix {
  std::string_view text;
  int exponent;
};

// The first of equal exponents is the one written. µ is U+00B5 (micro sign) or U+03BC (Greek mu).
constexpr std::array<Prefix, 11> prefixes = {{{"", 0},
                                              {"f", -15},
                                              {"p", -12},
                                              {"n", -9},
                                              {"u", -6},
                                              {"\u00b5", -6},
                                              {"\u03bc", -6},
                                              {"m", -3},
                                              {"k", 3},
                                              {"M", 6},
                                              {"G", 9}}};

std::optional<int> prefix_exponent(std::string_view text) {
  for (const Prefix& prefix : prefixes) {
    if (prefix.text == text) return prefix.exponent;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Number {
  std::string mantissa;  // sign, digits, point
  int exponent = 0;
  std::size_t length = 0;  // characters used; 0: no number here
};

Number scan_number(std::string_view text) {
  Number number;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) number.mantissa += text[i++] == '-' ? "-" : "";
  bool any_digit = false;
  bool point = false;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    any_digit = any_digit || is_digit(text[i]);
    point = point || text[i] == '.';
    number.mantissa += text[i];
  }
  if (!any_digit) return {};
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < text.size() && text[j] == '+') ++j;
    const auto [end, error] = std::from_chars(text.data() + j, text.data() + text.size(), number.exponent);
    if (error == std::errc()) i = static_cast<std::size_t>(end - text.data());
  }
  number.length = i;
  return number;
}

/// Power of ten of `text` as a multiple of the unit, when it is one.
std::optional<int> exponent_in(std::string_view text, const UnitInfo& info) {
  if (info.unit == Unit::none) {
    if (text == "%") return -2;
    return text == "1" ? std::optional<int>(0) : std::nullopt;
  }
  for (const std::string_view spelling : info.spellings) {
    if (text.size() < spelling.size() || text.substr(text.size() - spelling.size()) != spelling) continue;
    if (const auto exponent = prefix_exponent(text.substr(0, text.size() - spelling.size()))) return exponent;
  }
  return std::nullopt;
}

/// True for degrees Celsius, the one unit that has another zero.
bool is_celsius(std::string_view text) { return text == "C" || text == "degC" || text == "\u00b0C"; }

/// Seconds in a unit of time that is no power of ten of a second; 0 for other units.
double long_time_s(std::string_view text) {
  if (text == "min") return 60;
  if (text == "h") return 3600;
  return text == "d" ? 86400 : 0;
}

std::string expectation(const UnitInfo& info) {
  return fmt::format("expected {}, like \"{}\"", info.name, info.example);
}

std::string unit_problem(std::string_view text, const UnitInfo& expected) {
  for (const UnitInfo& info : unit_infos()) {
    if (exponent_in(text, info)) return fmt::format("\"{}\" is {}; {}", text, info.name, expectation(expected));
  }
  return fmt::format("unknown unit \"{}\"; {}", text, expectation(expected));
}

/// Shortest (digits = 0) or rounded significant digits of |value| and the power of ten of the first one.
std::pair<std::string, int> decimal(double value, int digits) {
  std::array<char, 64> buffer{};
  const auto end = digits > 0
                       ? std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific, digits - 1)
                       : std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific);
  const std::string text(buffer.data(), end.ptr);
  const auto e = text.find('e');
  std::string figures;
  for (const char c : text.substr(0, e)) {
    if (is_digit(c)) figures += c;
  }
  figures.erase(figures.find_last_not_of('0') + 1);
  return {figures.empty() ? "0" : figures, figures.empty() ? 0 : std::atoi(text.c_str() + e + 1)};
}

/// Writes digits with the decimal point after `whole` of them.
std::string place_point(std::string digits, std::size_t whole) {
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  return digits.size() == whole ? digits : digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

std::string_view unit_symbol(Unit unit) { return info_of(unit).spellings.front(); }

Quantity read_quantity(std::string_view text, Unit unit) {
  const UnitInfo& info = info_of(unit);
  const std::string_view all = trimmed(text);
  const Number number = scan_number(all);
  if (number.length == 0) return {0, fmt::format("not a number; {}", expectation(info))};
  const std::string_view rest = trimmed(all.substr(number.length));
  const bool celsius = unit == Unit::kelvin && is_celsius(rest);
  const double long_s = unit == Unit::second ? long_time_s(rest) : 0;
  const bool whole = rest.empty() || celsius || long_s > 0;
  const std::optional<int> shift = whole ? std::optional<int>(0) : exponent_in(rest, info);
  if (!shift) return {0, unit_problem(rest, info)};
  const std::string joined = fmt::format("{}e{}", number.mantissa, number.exponent + *shift);
  double value = 0;
  const auto result = std::from_chars(joined.data(), joined.data() + joined.size(), value);
  if (result.ec != std::errc()) return {0, fmt::format("too large or too small for a number; {}", expectation(info))};
  if (long_s > 0) return {value * long_s, {}};
  return {celsius ? value + zero_celsius_K : value, {}};
}

double parse_quantity(std::string_view text, Unit unit) {
  const Quantity quantity = read_quantity(text, unit);
  if (!quantity.problem.empty()) throw UserError(fmt::format("\"{}\": {}", text, quantity.problem));
  return quantity.value;
}

std::string format_quantity(double value, Unit unit, int digits) {
  const std::string tail = unit == Unit::none ? "" : std::string(unit_symbol(unit));
  if (!std::isfinite(value)) return fmt::format("{}{}{}", value, tail.empty() ? "" : " ", tail);
  const auto [figures, exponent] = decimal(std::abs(value), digits);
  const std::string sign = std::signbit(value) && value != 0 ? "-" : "";
  if (unit == Unit::none) {
    // 1e-4 <= |value| < 1e6 reads best without an exponent.
    if (exponent >= -4 && exponent < 0) return sign + "0." + std::string(-exponent - 1, '0') + figures;
    if (exponent >= 0 && exponent < 6) return sign + place_point(figures, exponent + 1);
    return fmt::format("{}{}e{}", sign, place_point(figures, 1), exponent);
  }
  for (const Prefix& prefix : prefixes) {
    const int whole = exponent - prefix.exponent + 1;
    if (whole >= 1 && whole <= 3) return fmt::format("{}{} {}{}", sign, place_point(figures, whole), prefix.text, tail);
  }
  return fmt::format("{}{}e{} {}", sign, place_point(figures, 1), exponent, tail);
}

}  // namespace nudge
