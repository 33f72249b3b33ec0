// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/csv_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "sim/base/bounded_read.hpp"
#include "sim/base/csv_text.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

/// No device: a filament of one atom has 78 uS, and 0.1 S is 10 ohm, a wire with its contacts.
constexpr double kMostConductance_S = 0.1;

bool has_unit(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
}

}  // namespace

std::vector<CsvRow> csv_rows(std::string_view text) {
  std::vector<CsvRow> rows;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int number = 1; !text.empty();) {
    const std::string_view start = text;
    const std::string content = trimmed(text.substr(0, text.find('\n')));
    if (content.empty() || content[0] == '#') {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    } else {
      rows.push_back({number, read_csv_record(text)});
      for (std::string& cell : rows.back().cells) cell = trimmed(cell);
    }
    const std::string_view taken = start.substr(0, start.size() - text.size());
    number += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
  }
  return rows;
}

void csv_fail(const std::string& where, const std::string& what) { throw UserError(where + ": " + what); }

double csv_conductance(const std::string& text, const std::string& unit, const std::string& where) {
  const Quantity q = read_quantity(has_unit(text) ? text : text + unit, Unit::siemens);
  if (!q.problem.empty()) csv_fail(where, fmt::format("conductance \"{}\": {}", text, q.problem));
  if (!std::isfinite(q.value)) csv_fail(where, fmt::format("conductance \"{}\" is not a finite number", text));
  if (q.value < 0)
    csv_fail(where, fmt::format("conductance {:g} S is negative (a passive device has a conductance >= 0)", q.value));
  if (q.value > kMostConductance_S) {
    csv_fail(
        where,
        fmt::format(
            "conductance {:g} S is that of a wire (did you mean {:g} uS? Write the unit into the cell, or name the "
            "column conductance_uS)",
            q.value, q.value));
  }
  return q.value;
}

bool csv_is_number(const std::string& cell) {
  if (cell.empty()) return false;
  const std::string word = cell.substr(0, 3);
  const bool no_number = std::equal(word.begin(), word.end(), "nan", [](char a, char b) { return (a | 0x20) == b; });
  return std::isdigit(static_cast<unsigned char>(cell[0])) != 0 ||
         (cell.size() > 1 && std::string_view("+-.").find(cell[0]) != std::string_view::npos) ||
         (word.size() == 3 && no_number);
}

std::string read_csv_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (stream.is_open() && !stream.bad() && std::filesystem::is_regular_file(path)) return "";
    throw UserError(path + ": cannot be read (is it a file, and does it exist?)");
  }
  return read_bounded(stream, path, expected_bytes(path));
}

}  // namespace nudge
