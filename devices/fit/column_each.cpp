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
#include <utility>

#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"
#include "devices/fit/labels.hpp"
#include "devices/fit/table_times.hpp"

namespace nudge {

namespace {

/// Name of one of several columns alike.
struct EachName {
  std::size_t column = 0;
  std::string reading = {}, unit = {};  ///< or another known column, of which each block has one: its pulses
  bool reads = false;
  std::vector<std::string> words = {};  ///< without that of the reading
  Label label = {};
  std::string stem = {};  ///< word before what tells devices apart

  /// True of names that tell the same kinds of things.
  bool is_like(const EachName& other) const {
    return stem == other.stem && label.device.empty() == other.label.device.empty() &&
           label.cycle.empty() == other.label.cycle.empty() &&
           label.direction.has_value() == other.label.direction.has_value();
  }
};

constexpr std::array<std::string_view, 6> kReadings = {"conductance", "resistance", "r_on", "r_off", "g_on", "g_off"};

/// Known reading that a word names; empty: none. `others`: another column of a table of pulses.
std::string reading_of(const std::string& word, const std::vector<LongColumn>& known, bool others = false) {
  for (const LongColumn& one : known) {
    const bool reads = std::find(kReadings.begin(), kReadings.end(), one.name) != kReadings.end();
    const bool tells = one.name == "device" || one.name == "cell" || one.name == "cycle" || one.name == "direction";
    if ((others ? !reads && !tells : reads) && rank_of(word, one)) return one.name;
  }
  return "";
}

/// Parts of a column's name; nothing: it is no reading, and no column that each block may have.
std::optional<EachName> each_name(const MeasuredText& text, std::size_t c, const std::vector<LongColumn>& known) {
  const NamedUnit named = named_unit(text.header.cells[c]);
  EachName out{c, "", unit_beside(text, c)};
  const auto is = [&](Unit of) { return !out.unit.empty() && read_quantity("1 " + out.unit, of).problem.empty(); };
  const bool ohms = is(Unit::ohm);
  out.reads = ohms || is(Unit::siemens);
  for (const std::string& word : label_words(named.name)) {
    const std::string reading = out.reading.empty() ? reading_of(word, known, !out.reads) : "";
    (reading.empty() ? out.words.emplace_back(word) : out.reading = reading);
  }
  if (!out.reads) return out.reading.empty() || out.words.empty() ? std::nullopt : std::optional(out);
  const bool end = out.reading.starts_with("r_") || out.reading.starts_with("g_");  // LRS may be in siemens
  if (end) out.reading = (ohms ? "r_" : "g_") + out.reading.substr(2);
  if (!end) out.reading = ohms ? "resistance" : "conductance";
  const bool wanted =
      std::any_of(known.begin(), known.end(), [&](const LongColumn& one) { return one.name == out.reading; });
  return wanted && !out.words.empty() ? std::optional(out) : std::nullopt;
}

/// Finds the word before what tells a device. False: the label tells something else, or nothing.
bool take_stem(EachName& own, const std::vector<LongColumn>& known) {
  const std::string& device = own.label.device;
  if (device.empty()) return !own.label.plain();
  if (device.find_first_not_of("0123456789") == std::string::npos) return true;  // "G 1"
  own.stem = word_of(device_word(device));
  const std::string letters = device.substr(0, device.find_last_not_of("0123456789") + 1);  // "G1" of a conductance
  if (own.stem.empty() && letters.size() < device.size() && !reading_of(letters, known).empty())
    own.stem = word_of(letters);
  return !own.stem.empty();
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
    if (unit.empty()) unit = unit_below(text, c);
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
  out.tells = {"time"};
  return out;
}

}  // namespace

namespace {

/// Columns that may be of blocks, with their labels; statistics are none.
std::vector<EachName> names_each(const MeasuredText& text, const std::vector<LongColumn>& known,
                                 const std::vector<bool>& taken, const std::vector<bool>& aside) {
  const std::vector<bool> statistics = statistics_among(text.header.cells);
  std::vector<EachName> names;
  std::vector<std::vector<std::string>> words;
  for (std::size_t c = 0; c < taken.size(); ++c) {
    auto own = taken[c] || aside[c] || statistics[c] ? std::nullopt : each_name(text, c, known);
    if (!own) continue;
    words.push_back(own->words);
    names.push_back(std::move(*own));
  }
  const std::vector<Label> labels = labels_of(words);
  const bool cycles = place_among(known, "cycle") < known.size();
  for (std::size_t k = 0; k < names.size(); ++k) {
    names[k].label = labels[k];
    Label& own = names[k].label;
    if (!cycles && !own.cycle.empty()) own = {boost::join(words[k], " "), "", {}};
  }
  return names;
}

/// Columns of blocks: of a device, a cycle and a direction, by what they hold.
struct NamedBlocks {
  using Tag = std::pair<std::string, std::string>;  ///< device and cycle
  std::vector<Tag> tags = {};                       ///< in the order of the file
  std::map<std::pair<Tag, int>, std::map<std::string, std::size_t>> columns = {};
  std::map<std::string, std::string> units = {};  ///< of the readings
  const EachName* first = nullptr;

  static std::pair<Tag, int> key_of(const Label& label) {
    return {{label.device, label.cycle}, label.direction == Direction::down ? 1 : 0};
  }
};

/// Blocks of the columns of readings; fewer than two: names do not tell the same kinds of things, or units differ.
NamedBlocks blocks_by_names(std::vector<EachName>& names, const std::vector<LongColumn>& known) {
  NamedBlocks out;
  for (EachName& own : names) {
    if (!own.reads || !take_stem(own, known)) continue;  // the finder asks
    if (out.first == nullptr) out.first = &own;
    if (!own.is_like(*out.first) || out.units.emplace(own.reading, own.unit).first->second != own.unit) return {};
    const auto key = NamedBlocks::key_of(own.label);
    if (!out.columns[key].emplace(own.reading, own.column).second) return {};
    if (std::find(out.tags.begin(), out.tags.end(), key.first) == out.tags.end()) out.tags.push_back(key.first);
  }
  for (const EachName& own : names) {  // pulses and voltages of each block
    const auto at = own.reads ? out.columns.end() : out.columns.find(NamedBlocks::key_of(own.label));
    if (at == out.columns.end() || !at->second.emplace(own.reading, own.column).second) continue;
    if (out.units.emplace(own.reading, own.unit).first->second != own.unit) return {};
  }
  return out;
}

}  // namespace

ColumnEach column_each(const MeasuredText& text, const std::vector<LongColumn>& known, const std::vector<bool>& taken,
                       const std::vector<bool>& aside) {
  ColumnEach out = times_each(text, known, taken, aside);
  if (!out.blocks.empty()) return out;
  std::vector<EachName> names = names_each(text, known, taken, aside);
  const NamedBlocks all = blocks_by_names(names, known);
  if (all.columns.size() < 2) return {};
  const Label& first = all.first->label;
  for (const auto& [reading, unit] : all.units) out.readings.push_back(reading), out.units.push_back(unit);
  if (!first.device.empty()) out.tells.emplace_back("device");
  if (!first.cycle.empty()) out.tells.emplace_back("cycle");
  if (first.direction) out.tells.emplace_back("direction");
  for (const NamedBlocks::Tag& tag : all.tags) {
    for (const int way : {0, 1}) {
      const auto at = all.columns.find({tag, way});
      if (at == all.columns.end()) continue;
      if (at->second.size() != all.units.size()) return {};
      ColumnBlock block;
      for (const auto& [reading, c] : at->second) block.columns.push_back(c);
      const bool whole = out.tells.size() == 1 && all.units.size() == 1;
      if (!first.device.empty()) block.tags.push_back(whole ? text.header.cells[block.columns[0]] : tag.first);
      if (!first.cycle.empty()) block.tags.push_back(tag.second);
      if (first.direction) block.tags.emplace_back(way == 0 ? "up" : "down");
      out.blocks.push_back(std::move(block));
    }
  }
  return out;
}

}  // namespace nudge
