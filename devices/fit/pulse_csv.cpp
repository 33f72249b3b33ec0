// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/base/errors.hpp"
#include "sim/base/units.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw UserError(where + ": " + what); }

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = line.find(',', begin);
    std::string cell = trimmed(std::string_view(line).substr(begin, comma - begin));
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') cell = trimmed(cell.substr(1, cell.size() - 2));
    cells.push_back(std::move(cell));
    if (comma == std::string::npos) return cells;
    begin = comma + 1;
  }
}

/// Positions of pulse, conductance and direction in the header.
std::array<std::size_t, 3> columns_of(const std::vector<std::string>& header, const std::string& where) {
  const std::vector<std::string> names = {"pulse", "conductance", "direction"};
  constexpr std::size_t absent = static_cast<std::size_t>(-1);
  std::array<std::size_t, 3> at = {absent, absent, absent};
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string name = header[c] == "conductance_S" ? "conductance" : header[c];
    std::size_t k = 0;
    while (k < names.size() && names[k] != name) ++k;
    if (k == names.size()) fail(where, fmt::format("unknown column \"{}\" ({})", header[c], did_you_mean(name, names)));
    if (at[k] != absent) fail(where, fmt::format("column \"{}\" occurs twice", header[c]));
    at[k] = c;
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (at[k] == absent) {
      fail(where, fmt::format("column \"{}\" is missing (the header must be pulse,conductance,direction)", names[k]));
    }
  }
  return at;
}

long long pulse_number(const std::string& text, const std::string& where) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != 0) fail(where, fmt::format("pulse \"{}\" is not a whole number", text));
  return value;
}

double conductance(const std::string& text, const std::string& where) {
  const Quantity q = read_quantity(text, Unit::siemens);
  if (!q.problem.empty()) fail(where, fmt::format("conductance \"{}\": {}", text, q.problem));
  if (!std::isfinite(q.value)) fail(where, fmt::format("conductance \"{}\" is not a finite number", text));
  if (q.value < 0)
    fail(where, fmt::format("conductance {:g} S is negative (a passive device has a conductance >= 0)", q.value));
  return q.value;
}

Direction direction_of(const std::string& text, const std::string& where) {
  if (text == "up" || text == "+1" || text == "1") return Direction::up;
  if (text == "down" || text == "-1") return Direction::down;
  fail(where, fmt::format("direction \"{}\" must be up or down (or +1, -1)", text));
}

void check(const PulseRecord& record, const std::string& name) {
  std::size_t up = 0;
  for (std::size_t i = 1; i < record.direction.size(); ++i) up += record.direction[i] == Direction::up;
  const std::size_t down = record.pulses() - std::min(up, record.pulses());
  if (record.pulses() < 4 || up < 2 || down < 2) {
    fail(name,
         fmt::format("{} pulses up and {} down (at least 2 of each and a conductance before the first are needed)", up,
                     down));
  }
}

}  // namespace

PulseRecord parse_pulse_csv(std::string_view text, const std::string& name) {
  PulseRecord record;
  std::istringstream stream{std::string(text)};
  std::array<std::size_t, 3> at{};
  std::size_t columns = 0;
  long long last = 0;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (number == 1 && line.rfind("\xEF\xBB\xBF", 0) == 0) line.erase(0, 3);
    if (trimmed(line).empty() || trimmed(line)[0] == '#') continue;
    const std::string where = fmt::format("{}:{}", name, number);
    const auto cells = cells_of(line);
    if (columns == 0) {
      at = columns_of(cells, where);
      columns = cells.size();
      continue;
    }
    if (cells.size() != columns) fail(where, fmt::format("{} cells, the header has {}", cells.size(), columns));
    const long long pulse = pulse_number(cells[at[0]], where);
    if (!record.conductance_S.empty() && pulse != last + 1) {
      fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one)",
                              pulse, last, pulse > last ? "a gap" : "not increasing"));
    }
    last = pulse;
    record.conductance_S.push_back(conductance(cells[at[1]], where));
    record.direction.push_back(record.direction.empty() && cells[at[2]].empty() ? Direction::up
                                                                                : direction_of(cells[at[2]], where));
  }
  if (columns == 0) fail(name, "empty (the first line must be pulse,conductance,direction)");
  check(record, name);
  return record;
}

PulseRecord read_pulse_csv(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (stream.is_open() && !stream.bad() && std::filesystem::is_regular_file(path)) return parse_pulse_csv("", path);
    throw UserError(path + ": cannot be read (is it a file, and does it exist?)");
  }
  text << stream.rdbuf();
  return parse_pulse_csv(text.str(), path);
}

}  // namespace nudge
