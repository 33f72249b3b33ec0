// SPDX-License-Identifier: Apache-2.0
// Columns of readings of which each device, cycle or direction has its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <string_view>

#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"

namespace nudge {

namespace {

/// Word before the number at the end of a column's name; empty: there is no number.
std::string stem_of(const std::string& name) {
  const std::string own = named_unit(name).name;
  const std::size_t digits = own.find_last_not_of("0123456789") + 1;
  return digits == own.size() ? "" : word_of(own.substr(0, digits));
}

}  // namespace

bool counts_cycles(const std::string& name) {
  const std::string stem = stem_of(name);
  return !stem.empty() && rank_of(stem, {"cycle", Unit::none, false}).has_value();
}

namespace {

/// Name of one of several columns alike.
struct EachName {
  std::string reading, unit, tag, stem;  ///< stem: of the tag, without its number or letter
  std::optional<Direction> direction;
  bool of_cycles = false;
};

constexpr std::array<std::string_view, 6> kReadings = {"conductance", "resistance", "r_on", "r_off", "g_on", "g_off"};

/// Known reading that a word names; empty: none.
std::string reading_of(const std::string& word, const std::vector<LongColumn>& known) {
  for (const LongColumn& one : known) {
    const bool reads = std::find(kReadings.begin(), kReadings.end(), one.name) != kReadings.end();
    if (reads && rank_of(word, one)) return one.name;
  }
  return "";
}

/// Finds what a tag tells. False: neither a device nor a cycle.
bool take_tag(EachName& own, const std::vector<LongColumn>& known) {
  const std::size_t digits = own.tag.find_last_not_of("0123456789") + 1, blank = own.tag.rfind(' ');
  if (digits == 0 && !own.tag.empty()) {  // a number alone: "G 1", "LTP 2"
    own.of_cycles = own.direction.has_value();
    return true;
  }
  if (digits < own.tag.size()) {
    own.stem = word_of(own.tag.substr(0, digits));
    own.of_cycles = counts_cycles(own.tag);
    // One letter with a number and such a unit names a device: D1, S2.
    return own.of_cycles || own.stem.size() == 1 || own.stem == "dev" || tells_devices(own.stem) ||
           !reading_of(own.stem, known).empty();
  }
  if (blank == std::string::npos || blank + 2 != own.tag.size()) return own.tag.empty() && own.direction.has_value();
  own.stem = word_of(own.tag.substr(0, blank));  // Device A
  return tells_devices(own.stem);
}

/// Parts of a column's name; nothing: it is no reading.
std::optional<EachName> each_name(const MeasuredText& text, std::size_t c, const std::vector<LongColumn>& known) {
  const NamedUnit named = named_unit(text.header.cells[c]);
  EachName out{"", named.unit, "", "", {}, false};
  if (out.unit.empty() && c < text.units.cells.size()) out.unit = named_unit("x (" + text.units.cells[c] + ")").unit;
  std::vector<std::string> words;
  boost::split(
      words, named.name,
      [](char x) { return static_cast<unsigned char>(x) < 128 && std::isalnum(static_cast<unsigned char>(x)) == 0; },
      boost::token_compress_on);
  for (const std::string& word : words) {
    const std::string reading = out.reading.empty() ? reading_of(word, known) : "";
    if (const auto direction = direction_word(word); direction && word.size() > 1 && !out.direction) {
      out.direction = direction;
      const std::size_t number = word.find_last_not_of("0123456789") + 1;
      if (number < word.size()) out.tag += (out.tag.empty() ? "" : " ") + word.substr(number);
    } else if (!reading.empty()) {
      out.reading = reading;
    } else if (!word.empty()) {
      out.tag += (out.tag.empty() ? "" : " ") + word;
    }
  }
  const auto is = [&](Unit of) { return !out.unit.empty() && read_quantity("1 " + out.unit, of).problem.empty(); };
  const bool ohms = is(Unit::ohm);
  if (!ohms && !is(Unit::siemens)) return {};
  const bool end = out.reading.starts_with("r_") || out.reading.starts_with("g_");  // LRS may be in siemens
  if (end) out.reading = (ohms ? "r_" : "g_") + out.reading.substr(2);
  if (!end) out.reading = ohms ? "resistance" : "conductance";
  const bool wanted =
      std::any_of(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == out.reading; });
  return wanted && (!out.tag.empty() || out.direction) ? std::optional(out) : std::nullopt;
}

}  // namespace

namespace {

/// Seconds that a column's name tells: "10 s", "t = 10 s (uS)", "G_10s (uS)", "G(10s) [uS]"; nothing: it tells none. Sets the unit of its
/// readings.
std::optional<double> seconds_of(const std::string& name, std::string& unit) {
  static const std::regex form(
      "(?:t|time|after|at|g|r|conductance|resistance)?[ _=(]*([0-9.]+(?:e[+-]?[0-9]+)? *[a-z]*)[ )]*",
      std::regex::icase);
  const auto seconds = [&](const std::string& text) -> std::optional<double> {
    std::smatch parts;
    if (!std::regex_match(text, parts, form)) return {};
    const std::string of = parts[1];
    const bool zero = of == "0";
    const Quantity q = read_quantity(zero ? "0 s" : of, Unit::second);
    const bool told = zero || std::isalpha(static_cast<unsigned char>(of.back())) != 0;
    return told && q.problem.empty() && q.value >= 0 ? std::optional(q.value) : std::nullopt;
  };
  if (const auto whole = seconds(name)) return whole;
  const NamedUnit own = named_unit(name);
  unit = own.unit;
  return seconds(own.name);
}

/// A block for each time that a column of conductances or resistances is of.
ColumnEach times_each(const MeasuredText& text, const std::vector<LongColumn>& known, const std::vector<bool>& taken,
                      const std::vector<bool>& aside) {
  ColumnEach out;
  for (std::size_t c = 0; c < taken.size(); ++c) {
    std::string unit;
    const auto time = taken[c] || aside[c] ? std::nullopt : seconds_of(text.header.cells[c], unit);
    if (!time) continue;
    if (unit.empty() && c < text.units.cells.size()) unit = named_unit("x (" + text.units.cells[c] + ")").unit;
    const bool ohms = !unit.empty() && read_quantity("1 " + unit, Unit::ohm).problem.empty();
    const std::string reading = ohms ? "resistance" : "conductance";
    if (out.blocks.empty()) out.readings = {reading}, out.units = {unit};
    if (reading != out.readings[0] || unit != out.units[0]) return {};
    out.blocks.push_back({{c}, {fmt::format("{}", *time)}});
  }
  const auto wanted = [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == name; });
  };
  if (out.blocks.size() < 2 || wanted("pulse") || !wanted("time") || !wanted(out.readings[0])) return {};
  out.timed = true;
  return out;
}

}  // namespace

ColumnEach column_each(const MeasuredText& text, const std::vector<LongColumn>& known, const std::vector<bool>& taken,
                       const std::vector<bool>& aside) {
  ColumnEach out = times_each(text, known, taken, aside);
  if (!out.blocks.empty()) return out;
  std::optional<EachName> first;
  std::map<std::pair<std::string, int>, std::map<std::string, std::size_t>>
      blocks;                     // of a tag and direction: columns of readings
  std::vector<std::string> tags;  // in the order of the file
  std::map<std::string, std::string> units;
  for (std::size_t c = 0; c < taken.size(); ++c) {
    auto own = taken[c] || aside[c] ? std::nullopt : each_name(text, c, known);
    if (!own) continue;
    const bool tells = take_tag(*own, known);
    if (!tells && own->stem.empty()) continue;  // a mean
    if (!first) first = own;
    if (!tells || own->stem != first->stem || own->of_cycles != first->of_cycles ||
        own->tag.empty() != first->tag.empty() || own->direction.has_value() != first->direction.has_value() ||
        units.emplace(own->reading, own->unit).first->second != own->unit) {
      return {};
    }
    const int way = own->direction == Direction::down ? 1 : 0;
    if (!blocks[{own->tag, way}].emplace(own->reading, c).second) return {};
    if (std::find(tags.begin(), tags.end(), own->tag) == tags.end()) tags.push_back(own->tag);
  }
  if (blocks.size() < 2) return {};
  for (const auto& [reading, unit] : units) out.readings.push_back(reading), out.units.push_back(unit);
  out.named = !first->tag.empty();
  out.of_cycles = first->of_cycles;
  out.directed = first->direction.has_value();
  for (const std::string& tag : tags) {
    for (const int way : {0, 1}) {
      const auto at = blocks.find({tag, way});
      if (at == blocks.end()) continue;
      if (at->second.size() != units.size()) return {};
      ColumnBlock block;
      for (const auto& [reading, c] : at->second) block.columns.push_back(c);
      const bool whole = !out.directed && units.size() == 1;
      if (out.named) block.tags.push_back(whole ? text.header.cells[block.columns[0]] : tag);
      if (out.directed) block.tags.emplace_back(way == 0 ? "up" : "down");
      out.blocks.push_back(std::move(block));
    }
  }
  return out;
}

}  // namespace nudge
