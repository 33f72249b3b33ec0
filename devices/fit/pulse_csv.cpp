// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/pulse_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

/// LabHeader of the header; kAbsent where there is none.
struct LabHeader {
  std::size_t pulse = kAbsent, conductance = kAbsent, direction = kAbsent, device = kAbsent, cycle = kAbsent;
  std::string unit = {};  ///< of conductances without one: " uS" from the column's name
};

/// "conductance_uS", "G_uS" and "G" are the conductance; the unit goes to `unit`.
std::string plain_name(const std::string& cell, std::string& unit) {
  for (const char* stem : {"conductance", "G"}) {
    if (cell == stem) return "conductance";
    for (const char* of : {"S", "mS", "uS", "nS"}) {
      if (cell != fmt::format("{}_{}", stem, of)) continue;
      unit = fmt::format(" {}", of);
      return "conductance";
    }
  }
  return cell;
}

LabHeader columns_of(const std::vector<std::string>& header, const std::string& where) {
  LabHeader at;
  const std::vector<std::pair<std::string, std::size_t*>> known{{"pulse", &at.pulse},
                                                                {"conductance", &at.conductance},
                                                                {"direction", &at.direction},
                                                                {"device", &at.device},
                                                                {"cycle", &at.cycle}};
  std::vector<std::string> names;
  for (const auto& [name, place] : known) names.push_back(name);
  for (std::size_t c = 0; c < header.size(); ++c) {
    const std::string name = plain_name(header[c], at.unit);
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == name; });
    if (found == known.end())
      fail(where, fmt::format("unknown column \"{}\" ({})", header[c], did_you_mean(name, names)));
    if (*found->second != kAbsent) fail(where, fmt::format("column \"{}\" occurs twice", header[c]));
    *found->second = c;
  }
  for (const auto& [name, place] : known) {
    if (*place == kAbsent && name != "device" && name != "cycle") {
      fail(where,
           fmt::format("column \"{}\" is missing (the header must be pulse,conductance,direction, with device and "
                       "cycle for several records)",
                       name));
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

/// No device: a filament of one atom has 78 uS, and 0.1 S is 10 ohm, a wire with its contacts.
constexpr double kMostConductance_S = 0.1;

bool has_unit(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text.back())) != 0;
}

double conductance(const std::string& text, const std::string& unit, const std::string& where) {
  const Quantity q = read_quantity(has_unit(text) ? text : text + unit, Unit::siemens);
  if (!q.problem.empty()) fail(where, fmt::format("conductance \"{}\": {}", text, q.problem));
  if (!std::isfinite(q.value)) fail(where, fmt::format("conductance \"{}\" is not a finite number", text));
  if (q.value < 0)
    fail(where, fmt::format("conductance {:g} S is negative (a passive device has a conductance >= 0)", q.value));
  if (q.value > kMostConductance_S) {
    fail(where,
         fmt::format(
             "conductance {:g} S is that of a wire (did you mean {:g} uS? Write the unit into the cell, or name the "
             "column conductance_uS)",
             q.value, q.value));
  }
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

std::vector<LabRecord> parse_lab_csv(std::string_view text, const std::string& name) {
  std::vector<LabRecord> records;
  std::vector<long long> last;  // pulse number, per record
  std::istringstream stream{std::string(text)};
  LabHeader at;
  std::size_t columns = 0;
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
    const std::string device = at.device == kAbsent ? "" : cells[at.device];
    const std::string cycle = at.cycle == kAbsent ? "" : cells[at.cycle];
    auto own = std::find_if(records.begin(), records.end(),
                            [&](const LabRecord& r) { return r.device == device && r.cycle == cycle; });
    const auto k = static_cast<std::size_t>(own - records.begin());
    const long long pulse = pulse_number(cells[at.pulse], where);
    if (own == records.end()) {
      records.push_back({device, cycle, {}});
      last.push_back(pulse);
    } else if (pulse != last[k] + 1) {
      fail(where, fmt::format("pulse {} follows pulse {} ({}: every pulse must have its row, numbered one by one)",
                              pulse, last[k], pulse > last[k] ? "a gap" : "not increasing"));
    }
    last[k] = pulse;
    PulseRecord& record = records[k].pulses;
    const std::string& direction = cells[at.direction];
    const bool first = record.conductance_S.empty();
    record.conductance_S.push_back(conductance(cells[at.conductance], at.unit, where));
    record.direction.push_back(first && direction.empty() ? Direction::up : direction_of(direction, where));
  }
  if (columns == 0) fail(name, "empty (the first line must be pulse,conductance,direction)");
  if (records.empty()) check({}, name);
  for (const LabRecord& record : records) {
    const bool one = record.device.empty() && record.cycle.empty();
    check(record.pulses, one ? name : fmt::format("{}: device {}, cycle {}", name, record.device, record.cycle));
  }
  return records;
}

std::vector<LabRecord> read_lab_csv(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || stream.peek() == std::ifstream::traits_type::eof()) {
    if (stream.is_open() && !stream.bad() && std::filesystem::is_regular_file(path)) return parse_lab_csv("", path);
    throw UserError(path + ": cannot be read (is it a file, and does it exist?)");
  }
  text << stream.rdbuf();
  return parse_lab_csv(text.str(), path);
}

namespace {

PulseRecord only(std::vector<LabRecord> records, const std::string& name) {
  if (records.size() > 1) fail(name, fmt::format("holds {} records (one is needed here)", records.size()));
  return std::move(records.front().pulses);
}

}  // namespace

PulseRecord parse_pulse_csv(std::string_view text, const std::string& name) {
  return only(parse_lab_csv(text, name), name);
}

PulseRecord read_pulse_csv(const std::string& path) { return only(read_lab_csv(path), path); }

}  // namespace nudge
