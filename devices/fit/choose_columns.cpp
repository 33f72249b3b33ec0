// SPDX-License-Identifier: Apache-2.0
// Columns that a user chooses, and columns that are put together.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cstdlib>
#include <utility>

#include "devices/fit/column_finder.hpp"
#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"
#include "devices/fit/labels.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

bool is_unit_of(const std::string& unit, Unit of) {
  return !unit.empty() && read_quantity("1 " + unit, of).problem.empty();
}

/// True of two names of a unit of readings, "uS" and "1e-6 S".
bool is_same_unit(const std::string& a, const std::string& b) {
  if (a == b) return true;
  for (const Unit of : {Unit::siemens, Unit::ohm, Unit::ampere}) {
    if (!is_unit_of(a, of) || !is_unit_of(b, of)) continue;
    return read_quantity("1 " + a, of).value == read_quantity("1 " + b, of).value;
  }
  return false;
}

}  // namespace

void ColumnFinder::choose(const std::string& choice) {
  if (choice.empty()) return;
  std::vector<std::string> parts;
  boost::split(parts, choice, boost::is_any_of(","));
  std::erase_if(parts, [&](const std::string& part) {
    const std::size_t equal = part.find('=');
    return equal != std::string::npos &&
           take_other(boost::trim_copy(part.substr(0, equal)), boost::trim_copy(part.substr(equal + 1)));
  });
  for (const std::string& part : parts) take_part(choice, part);
}

void ColumnFinder::take_part(const std::string& choice, const std::string& part) {
  const std::size_t equal = part.find('=');
  const std::string key = boost::trim_copy(part.substr(0, equal));
  const auto k = std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return rank_of(key, one); });
  if (equal == std::string::npos || k == known_.end()) {
    throw UserError(
        fmt::format("--columns \"{}\": \"{}\" (write NAME=COLUMN UNIT, like g=COL3 uS; names: {}, aside, decimal, "
                    "polarity)",
                    choice, boost::trim_copy(part), fmt::join(column_names(known_), ", ")));
  }
  auto meaning = static_cast<std::size_t>(k - known_.begin());
  std::string column = boost::trim_copy(part.substr(equal + 1)), unit;
  std::size_t at = column_of(column, meaning, unit);
  if (const std::size_t blank = column.rfind(' '); at == FoundColumns::absent && blank != std::string::npos) {
    unit = column.substr(blank + 1);
    column = boost::trim_copy(column.substr(0, blank));
    at = column_of(column, meaning, unit);
  }
  if (at == FoundColumns::absent) fail_absent(column);
  const bool ohms = k->name == "conductance" && is_unit_of(unit, Unit::ohm);
  if (ohms && known_at("resistance") < known_.size()) meaning = known_at("resistance");
  refuse_second(meaning, at);
  chosen_ = chosen_ || k->name == "conductance" || k->name == "resistance" || k->name == "current";
  take(meaning, at, unit);
}

void ColumnFinder::refuse_second(std::size_t k, std::size_t c) const {
  if (found_.has(k)) {
    csv_fail(where_, fmt::format("--columns: {} is both \"{}\" and \"{}\" (give it one column)", known_[k].name,
                                 names_[found_.place[k]], names_[c]));
  }
  const auto first = std::find(found_.place.begin(), found_.place.end(), c);
  if (first == found_.place.end()) return;
  csv_fail(where_, fmt::format("--columns: column \"{}\" is both {} and {} (give it one meaning)", names_[c],
                               known_[static_cast<std::size_t>(first - found_.place.begin())].name, known_[k].name));
}

void ColumnFinder::fail_absent(const std::string& column) const {
  csv_fail(where_, fmt::format("--columns: there is no column \"{}\" (columns: {})", column, fmt::join(names_, ", ")));
}

bool ColumnFinder::take_other(const std::string& key, const std::string& value) {
  if (key == "decimal") {
    if (value != "point" && value != "comma") {
      throw UserError(fmt::format("--columns: decimal={} (must be point or comma)", value));
    }
    text_.take_decimal(value == "point" ? '.' : ',');
    decimal_told_ = true;
  } else if (key == "polarity") {
    if (value != "reversed" && value != "normal") {
      throw UserError(fmt::format("--columns: polarity={} (must be normal or reversed)", value));
    }
    found_.reversed = value == "reversed";
  } else if (key == "aside") {
    const std::size_t c = place_of(value);
    if (c == FoundColumns::absent) fail_absent(value);
    aside_[c] = true;
  }
  return key == "decimal" || key == "aside" || key == "polarity";
}

void ColumnFinder::find_column_each() {
  for (const char* reading : {"r_on", "r_off", "g_on", "g_off"}) {
    if (has(reading)) return;
  }
  if (has_reading()) return;
  const ColumnEach each = column_each(text_, known_, taken_, aside_);
  if (each.blocks.empty()) return;
  std::vector<std::size_t> told;  // known columns that the names tell
  std::vector<std::string> tags;
  for (const std::string& meaning : each.tells) {
    told.push_back(meaning == "device" ? told_by_names() : known_at(meaning.c_str()));
    if (told.back() == known_.size() || found_.has(told.back())) return;
    tags.push_back((meaning == "device" ? "names" : meaning + "s") + " of columns");
  }
  if (each.is("time") && each.units[0].empty()) {
    csv_fail(where_,
             fmt::format("the names tell times, from \"{0}\" on: in which unit are the readings? Write \"{0} (uS)\"",
                         names_[each.blocks[0].columns[0]]));
  }
  const std::vector<std::size_t> places =
      stacked(each.blocks, tags, std::find(each.readings.begin(), each.readings.end(), "pulse") == each.readings.end());
  for (std::size_t k = 0; k < each.readings.size(); ++k)
    take(known_at(each.readings[k].c_str()), places[k], each.units[k]);
  for (std::size_t k = 0; k < told.size(); ++k)
    take(told[k], places[each.readings.size() + k], each.is("time") ? "s" : "");
  if (told.size() != 1 || each.readings.size() != 1) return;
  for (const ColumnBlock& block : each.blocks) each_.push_back(names_[block.columns[0]]);
}

std::size_t ColumnFinder::told_by_names() const {
  std::size_t k = device_at();
  if (k < known_.size() && found_.has(k)) k = known_at("cycle");
  return k < known_.size() && !found_.has(k) ? k : known_.size();
}

std::vector<std::size_t> ColumnFinder::stacked(const std::vector<ColumnBlock>& blocks,
                                               const std::vector<std::string>& tags, bool uncounted) {
  std::vector<std::string> names;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < blocks.front().columns.size(); ++k) {
    for (const ColumnBlock& block : blocks) taken_[block.columns[k]] = true, check_marks(block.columns[k]);
    names.push_back(names_[blocks.front().columns[k]] + (blocks.size() > 2 ? " to " : ", ") +
                    names_[blocks.back().columns[k]]);
  }
  names.insert(names.end(), tags.begin(), tags.end());
  const std::size_t pulse = known_at("pulse");
  const bool count = uncounted && pulse < known_.size() && !found_.has(pulse) && !finds("pulse");
  if (count) names.emplace_back("numbers of rows");
  text_.stack(blocks, names, count);
  for (const std::string& name : names) places.push_back(added(name));
  if (count) take(pulse, std::exchange(places, std::vector<std::size_t>(places.begin(), places.end() - 1)).back(), "");
  return places;
}

std::string ColumnFinder::shared_unit(const std::vector<std::size_t>& columns, std::size_t k,
                                      const std::string& told) const {
  std::string unit = told, by = "--columns";
  for (const std::size_t c : columns) {
    const std::string own = unit_of(k, c);
    if (c == columns.front() && unit.empty()) {
      unit = own;
      by = fmt::format("column \"{}\"", names_[c]);
    }
    if (is_same_unit(unit, own) || (own.empty() && !told.empty())) continue;
    const auto of = [](const std::string& one) { return one.empty() ? "no unit" : one; };
    csv_fail(where_, fmt::format("{} tells {}, column \"{}\" {}: columns below each other have one unit. Take those of "
                                 "one unit together",
                                 by, of(unit), names_[c], of(own)));
  }
  return unit;
}

std::size_t ColumnFinder::added(const std::string& name) {
  names_.push_back(name);
  taken_.push_back(true);
  aside_.push_back(false);
  return names_.size() - 1;
}

std::size_t ColumnFinder::joined(const std::vector<std::size_t>& columns, const char* by) {
  std::vector<std::string> parts;
  for (const std::size_t c : columns) parts.push_back(names_[c]), taken_[c] = true;
  const std::string name = fmt::format("{}", fmt::join(parts, "+"));
  text_.join(columns, name, by);
  return added(name);
}

std::size_t ColumnFinder::column_of(const std::string& column, std::size_t k, std::string& unit) {
  const std::size_t one = place_of(column);
  if (one != FoundColumns::absent || column.find('+') == std::string::npos) return one;
  std::vector<std::string> parts;
  boost::split(parts, column, boost::is_any_of("+"));
  std::vector<std::size_t> places;
  for (const std::string& part : parts) {
    places.push_back(place_of(boost::trim_copy(part)));
    if (places.back() == FoundColumns::absent) return places.back();
  }
  const std::string& name = known_[k].name;
  if (name != "conductance" && name != "resistance" && name != "current") return joined(places);
  unit = shared_unit(places, k, unit);
  std::vector<std::vector<std::string>> words;
  for (const std::size_t c : places) words.push_back(label_words(named_unit(names_[c]).name));
  const std::vector<Label> labels = labels_of(words);
  const bool cycles = std::all_of(labels.begin(), labels.end(),
                                  [](const Label& label) { return label.device.empty() && !label.cycle.empty(); });
  const std::size_t told = cycles && known_at("cycle") < known_.size() ? known_at("cycle") : told_by_names();
  if (told == known_.size() || found_.has(told)) return FoundColumns::absent;
  std::vector<ColumnBlock> blocks;
  for (const std::size_t c : places) {
    const bool once = std::count(names_.begin(), names_.end(), names_[c]) == 1;
    blocks.push_back({{c}, {once ? names_[c] : place_name(c)}});
  }
  const std::vector<std::size_t> both = stacked(blocks, {"names of columns"}, true);
  take(told, both[1], "");
  return both[0];
}

std::size_t ColumnFinder::place_of(const std::string& column) const {
  const auto named = std::find(names_.begin(), names_.end(), column);
  if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
  if (!column.starts_with("COL")) return FoundColumns::absent;
  char* end = nullptr;
  const long number = std::strtol(column.c_str() + 3, &end, 10);
  const bool there = *end == 0 && number >= 1 && number <= static_cast<long>(names_.size());
  return there ? static_cast<std::size_t>(number - 1) : FoundColumns::absent;
}

}  // namespace nudge
