// SPDX-License-Identifier: Apache-2.0
// Cells of tables of measurements: numbers, failed readings, and names with their units.
#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include "sim/io/measured_text.hpp"

namespace nudge {
namespace {

/// Value of a cell that is a decimal number and nothing else; most cells of a file are.
std::optional<double> plain_number(std::string_view cell) {
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  if (cell.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return error == std::errc() && end == cell.data() + cell.size() ? std::optional(value) : std::nullopt;
}

template <std::size_t n>
bool is_word_of(const std::string& cell, const std::array<const char*, n>& words) {
  return std::any_of(words.begin(), words.end(), [&](const char* known) { return boost::iequals(cell, known); });
}

constexpr std::string_view kPrefixes = "fpnumkMG";

/// Prefix before a word at the end of a text, "k" of "kohms"; nothing: it does not end so.
std::optional<std::string> prefix_before(const std::string& text, const char* word) {
  if (!boost::iends_with(text, word)) return std::nullopt;
  std::string front = text.substr(0, text.size() - std::string_view(word).size());
  if (front == "K") front = "k";
  const bool known = front.empty() || (front.size() == 1 && kPrefixes.find(front[0]) != std::string_view::npos);
  return known ? std::optional(front) : std::nullopt;
}

/// Unit as units.hpp spells it; another text stays as it is.
std::string plain_unit(std::string text) {
  boost::trim(text);
  for (const char* micro : {"\u00B5", "\u03BC"}) boost::replace_all(text, micro, "u");
  for (const char* ohm : {"\u03A9", "\u2126"}) boost::replace_all(text, ohm, "Ohm");
  static const std::map<std::string, std::string> words = {
      {"sec", "s"},   {"secs", "s"},  {"second", "s"}, {"seconds", "s"},  {"msec", "ms"},
      {"usec", "us"}, {"nsec", "ns"}, {"mins", "min"}, {"minute", "min"}, {"minutes", "min"},
      {"hr", "h"},    {"hrs", "h"},   {"hour", "h"},   {"hours", "h"},    {"day", "d"},
      {"days", "d"},  {"1/ohm", "S"}, {"ohm^-1", "S"}, {"siemens", "S"},  {"volt", "V"},
      {"volts", "V"}, {"amp", "A"},   {"amps", "A"},   {"ampere", "A"},   {"amperes", "A"}};
  if (const auto known = words.find(boost::to_lower_copy(text)); known != words.end()) return known->second;
  for (const auto& [word, unit] :
       {std::pair{"ohms", "Ohm"}, {"ohm", "Ohm"}, {"mhos", "S"}, {"mho", "S"}, {"A/V", "S"}}) {
    if (const auto prefix = prefix_before(text, word)) return *prefix + unit;
  }
  for (const auto& [power, prefix] : {std::pair{"-3", "m"}, {"-6", "u"}, {"-9", "n"}, {"-12", "p"}}) {
    for (const char* ten : {"10^", "x10^", "1e", "1E", "10**"}) {
      const std::string front = std::string(ten) + power + " ";
      if (text.starts_with(front)) return prefix + boost::trim_copy(text.substr(front.size()));
    }
  }
  return text;
}

}  // namespace

bool is_unit_name(const std::string& written) {
  std::string cell = written;
  if (cell.size() > 2 && (cell.front() == '(' || cell.front() == '[')) cell = cell.substr(1, cell.size() - 2);
  // Words of one day or second may be names: "day" is a column.
  static const std::array names = {"second", "minute", "hour", "day", "volt", "amp", "ohm^-1", "amps"};
  if (is_word_of(cell, names)) return false;
  cell = plain_unit(cell);
  static const std::array<const char*, 18> units = {"S", "Ohm", "V", "A", "F",   "s", "Hz",   "J",       "W",
                                                    "K", "m",   "%", "d", "min", "h", "degC", "\u00B0C", "C"};
  const auto known = [&](std::string_view of) { return std::find(units.begin(), units.end(), of) != units.end(); };
  if (cell == "d") return written != "d" && written != "(d)";  // d alone is a name as often
  return known(cell) || (cell.size() > 1 && kPrefixes.find(cell[0]) != std::string_view::npos &&
                         known(std::string_view(cell).substr(1)));
}

bool is_row_of_units(const std::vector<std::string>& cells) {
  const auto blank = [](const std::string& cell) {
    return cell.empty() || cell == "-" || cell == "1" || cell == "a.u." || cell == "#";
  };
  return std::any_of(cells.begin(), cells.end(), is_unit_name) &&
         std::all_of(cells.begin(), cells.end(),
                     [&](const std::string& cell) { return blank(cell) || is_unit_name(cell); });
}

bool is_no_reading(const std::string& cell) {
  if (cell.empty()) return true;
  constexpr std::array words = {"NaN",  "-NaN", "+NaN",  "#N/A",    "N/A",     "NA",     "#NV",
                                "null", "None", "#NUM!", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!"};
  if (is_word_of(cell, words)) return true;
  return cell.size() >= 3 && cell.size() <= 5 && cell.find_first_not_of("-.") == std::string::npos &&
         cell.find('-') == 0;
}

bool sums_up(const std::string& cell) {
  static const std::array words = {"mean",      "average",  "avg",
                                   "std",       "std dev",  "stdev",
                                   "sd",        "sigma",    "n",
                                   "min",       "max",      "minimum",
                                   "maximum",   "median",   "sum",
                                   "total",     "count",    "std error",
                                   "stderr",    "std err",  "sem",
                                   "se",        "error",    "err",
                                   "variance",  "var",      "deviation",
                                   "dev.",      "rms",      "iqr",
                                   "cv",        "mode",     "percentile",
                                   "quantile",  "quartile", "standard deviation",
                                   "spread",    "mad",      "standard error",
                                   "mittelwert"};
  return is_word_of(cell, words);
}

bool is_overflow(const std::string& cell) {
  if (cell.empty()) return false;
  const char first = cell[0];
  if (first == 'O' || first == 'o') {
    constexpr std::array words = {"OVLD", "OVL",      "O.L",        "OVERFLOW",   "OVRFLW",     "OVFL",
                                  "OL",   "OVERLOAD", "OVER RANGE", "OVER-RANGE", "OVER_RANGE", "OVERRANGE"};
    return is_word_of(cell, words);
  }
  if (first == '*') return cell.size() >= 3 && cell.find_first_not_of('*') == std::string::npos;
  const std::optional<double> value = plain_number(cell);
  if (value) return !std::isfinite(*value) || std::abs(*value) >= 9.9e37;
  constexpr std::array endless = {"inf", "+inf", "-inf", "infinity"};
  return is_no_reading(cell) || is_word_of(cell, endless);
}

bool is_measured_number(const std::string& cell) {
  if (cell.empty()) return false;
  if (plain_number(cell) || is_overflow(cell)) return true;
  if (std::string_view("+-.0123456789").find(cell[0]) == std::string_view::npos) return false;
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  if (end == cell.c_str()) return false;
  const std::string rest = boost::trim_copy(std::string(end));
  return rest.empty() || is_unit_name(rest);
}

NamedUnit named_unit(const std::string& cell) {
  std::string text = cell;
  for (const char* micro : {"\u00B5", "\u03BC"}) boost::replace_all(text, micro, "u");
  for (const char* ohm : {"\u03A9", "\u2126"}) boost::replace_all(text, ohm, "Ohm");
  const auto trimmed = [](const std::string& part) { return boost::trim_copy(part); };
  for (const auto& [open, close] : {std::pair{'(', ')'}, {'[', ']'}}) {
    const std::size_t at = text.find(open);
    if (at == std::string::npos || at == 0 || text.back() != close) continue;
    return {trimmed(text.substr(0, at)), plain_unit(text.substr(at + 1, text.size() - at - 2))};
  }
  if (const std::size_t at = text.rfind(" in ");
      at != std::string::npos && at > 0 && is_unit_name(text.substr(at + 4))) {
    return {trimmed(text.substr(0, at)), plain_unit(text.substr(at + 4))};
  }
  for (const char mark : {'/', '_', ' '}) {
    const std::size_t at = text.rfind(mark);
    if (at == std::string::npos || at == 0 || !is_unit_name(trimmed(text.substr(at + 1)))) continue;
    return {trimmed(text.substr(0, at)), plain_unit(text.substr(at + 1))};
  }
  return {text, ""};
}

}  // namespace nudge
