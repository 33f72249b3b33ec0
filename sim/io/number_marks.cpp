// SPDX-License-Identifier: Apache-2.0
#include "sim/io/number_marks.hpp"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace nudge {
namespace {

/// Marks that may stand between digits; apostrophes and blanks (no-break, narrow, thin) only group them.
constexpr std::array<std::string_view, 8> kMarks = {",", ".", "'", "\u2019", " ", "\u00A0", "\u202F", "\u2009"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Number as it is written: sign, groups of digits with a mark before each but the first, and what follows.
struct Written {
  std::string sign = {};
  std::vector<std::string> groups = {};
  std::vector<std::string> marks = {};
  std::string rest = {};

  bool three_digits(std::size_t from, std::size_t to) const {
    for (std::size_t k = from; k < to; ++k) {
      if (groups[k].size() != 3) return false;
    }
    return true;
  }
  bool same_marks(std::size_t to) const {
    for (std::size_t k = 1; k < to; ++k) {
      if (marks[k] != marks[0]) return false;
    }
    return true;
  }
  bool short_front() const { return !groups[0].empty() && groups[0].size() <= 3 && groups[0][0] != '0'; }
  /// Number of marks that group: all of them, all but the last one, or none. −1: this is no number.
  int grouping() const {
    const auto n = marks.size();
    if (n == 0) return 0;
    const bool decimal = marks.back() == "," || marks.back() == ".";
    if (n == 1 && decimal) return 0;
    const bool all = short_front() && same_marks(n) && three_digits(1, n + 1);
    if (all) return static_cast<int>(n);
    const bool fraction =
        n > 1 && decimal && marks.back() != marks[0] && short_front() && same_marks(n - 1) && three_digits(1, n);
    return fraction ? static_cast<int>(n) - 1 : -1;
  }
};

std::string_view mark_at(std::string_view text) {
  for (const std::string_view mark : kMarks) {
    if (text.starts_with(mark) && text.size() > mark.size() && is_digit(text[mark.size()])) return mark;
  }
  return {};
}

/// Number at the front of a cell, with nothing but an exponent or a unit behind it; no groups: there is none.
Written written_of(std::string_view text) {
  Written out;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    out.sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  while (true) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    if (n == 0 && !out.groups.empty()) return {};
    out.groups.emplace_back(text.substr(0, n));
    text.remove_prefix(n);
    const std::string_view mark = mark_at(text);
    if (mark.empty()) break;
    out.marks.emplace_back(mark);
    text.remove_prefix(mark.size());
  }
  out.rest = text;
  const bool known = text.empty() || text[0] == ' ' || std::isalpha(static_cast<unsigned char>(text[0])) != 0 ||
                     static_cast<unsigned char>(text[0]) >= 0x80;  // a unit, µS
  if (!known || (out.groups[0].empty() && out.marks.empty())) return {};
  return out;
}

}  // namespace

std::string NumberMarks::plain(const std::string& cell) const {
  const Written number = written_of(cell);
  if (number.groups.empty() || number.marks.empty()) return cell;
  std::string out = number.sign + number.groups[0];
  for (std::size_t k = 0; k < number.marks.size(); ++k) {
    const bool last = k + 1 == number.marks.size();
    if (!thousands.empty() && number.marks[k] == thousands && number.groups[k + 1].size() == 3) {
      if (k == 0 && !number.short_front()) return cell;
    } else if (last && number.marks[k].size() == 1 && number.marks[k][0] == decimal) {
      out += '.';
    } else {
      return cell;
    }
    out += number.groups[k + 1];
  }
  return out + number.rest;
}

bool is_grouped_number(const std::string& cell) {
  const Written number = written_of(cell);
  return !number.groups.empty() && number.grouping() > 0;
}

void ColumnMarks::add(const std::string& cell, int line) {
  const Written number = written_of(cell);
  if (number.groups.empty()) return;
  const std::size_t n = number.marks.size();
  const int grouping = number.grouping();
  if (grouping < 0) return;
  const bool fraction = n > static_cast<std::size_t>(grouping);
  if (grouping > 0) thousands_ = number.marks[0];
  const bool exponent = !number.rest.empty() && (number.rest[0] == 'e' || number.rest[0] == 'E');
  const bool open = grouping == 0 && n == 1 && number.short_front() && number.groups[1].size() == 3 && !exponent;
  if (fraction && !open) ++(number.marks.back() == "," ? comma_fractions_ : point_fractions_);
  const bool whole = n == 0 && !exponent && number.short_front();
  if (open && open_ == 0) {
    open_ = number.marks[0][0];
    open_cell_ = cell;
    open_line_ = line;
  }
  if (!open && !whole) {
    last_ = 0;
    return;
  }
  const double value = std::strtod((number.groups[0] + (open ? "." + number.groups[1] : "")).c_str(), nullptr);
  if (last_ > 0 && last_open_ != open) {
    const double ratio = open ? value / last_ : last_ / value;  // of the one with a mark over the whole one
    as_fraction_ += std::abs(std::log10(ratio));
    as_thousands_ += std::abs(std::log10(1000 * ratio));
    ++neighbours_;
  }
  last_ = value;
  last_open_ = open;
}

NumberMarks ColumnMarks::marks(char separator, bool points, bool commas) const {
  NumberMarks out;
  out.decimal = comma_fractions_ > 0 ? ',' : '.';
  out.thousands = thousands_;
  if (thousands_ == "." && comma_fractions_ == 0) out.decimal = ',';
  if (open_ == 0) return out;
  const std::string open(1, open_);
  const bool own_fraction = open_ == ',' ? comma_fractions_ > 0 : point_fractions_ > 0;
  const bool other_fraction = open_ == ',' ? point_fractions_ > 0 : comma_fractions_ > 0;
  const auto groups = [&] { out.thousands = open, out.decimal = open_ == ',' ? '.' : ','; };
  const auto fraction = [&] { out.decimal = open_; };
  out.doubt = open_cell_;
  out.doubt_line = open_line_;
  const auto certain = [&] { out.doubt_line = 0; };
  if (thousands_ == open || (other_fraction && !own_fraction)) {
    groups(), certain();
  } else if (own_fraction || !thousands_.empty()) {
    fraction(), certain();
  } else if (const double n = 0.5 * static_cast<double>(neighbours_); neighbours_ > 0) {
    // Half a decade: readings of one device do not change by three of them from row to row, again and again.
    if (as_thousands_ < as_fraction_ - n) {
      groups(), certain();
    } else if (as_fraction_ < as_thousands_ - n) {
      fraction(), certain();
    } else {
      fraction(), out.refused = true;
    }
  } else if (open_ == ',' ? commas != points : points != commas) {
    (open_ == ',') == commas ? fraction() : groups();
    certain();
  } else {
    fraction();
    out.refused = open_ == ',' ? separator != ';' : separator == ';';
    if (open_ == '.' && (separator == ',' || separator == ' ')) certain();
  }
  return out;
}

std::vector<NumberMarks> ColumnMarks::of(const std::vector<ColumnMarks>& columns, char separator) {
  bool points = false, commas = false;
  for (const ColumnMarks& one : columns) {
    points = points || one.point_fractions_ > 0 || one.thousands_ == ",";
    commas = commas || one.comma_fractions_ > 0 || one.thousands_ == ".";
  }
  std::vector<NumberMarks> out;
  out.reserve(columns.size());
  for (const ColumnMarks& one : columns) out.push_back(one.marks(separator, points, commas));
  return out;
}

}  // namespace nudge
