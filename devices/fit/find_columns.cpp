// SPDX-License-Identifier: Apache-2.0
// Columns of a table of measurements by what people call them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "devices/fit/column_finder.hpp"
#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"
#include "devices/fit/labels.hpp"
#include "devices/fit/long_table.hpp"
#include "devices/fit/table_times.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/time_stamp.hpp"

namespace nudge {

std::vector<std::string> column_names(const std::vector<LongColumn>& known) {
  std::vector<std::string> names;
  for (const LongColumn& column : known) names.push_back(column.name);
  return names;
}

namespace {

double factor_of(const std::string& unit, Unit of, const std::string& name, const std::string& where) {
  if (unit.empty() || of == Unit::none) return 1;
  const Quantity q = read_quantity("1 " + unit, of);
  if (!q.problem.empty()) csv_fail(where, fmt::format("column \"{}\": {}", name, q.problem));
  return q.value;
}

}  // namespace

ColumnFinder::ColumnFinder(MeasuredText& text, const std::vector<LongColumn>& known, std::vector<ToldColumn> told)
    : text_(text),
      known_(known),
      names_(text.header.cells),
      taken_(names_.size(), false),
      aside_(names_.size(), false),
      where_(text.place(text.header)),
      told_(std::move(told)),
      of_file_(names_.size()) {
  found_.place.assign(known.size(), FoundColumns::absent);
  found_.unit.assign(known.size(), "");
  found_.factor.assign(known.size(), 1);
  found_.reciprocal.assign(known.size(), false);
}

void ColumnFinder::find_devices() {
  DeviceSearch at;
  std::size_t device = known_.size();
  for (std::size_t k = 0; k < known_.size(); ++k) {
    const std::string& name = known_[k].name;
    if (name == "device" || name == "cell") device = k;
    if (name == "cycle") at.cycle = found_.place[k];
    if (name == "direction") at.direction = found_.place[k];
  }
  if (device == known_.size()) return;
  at.device_key = known_[device].name;
  for (const char* order : {"pulse", "time", "reads", "cycle"}) {
    const auto own =
        std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return one.name == order; });
    if (own == known_.end() || !found_.has(static_cast<std::size_t>(own - known_.begin()))) continue;
    at.order = found_.place[static_cast<std::size_t>(own - known_.begin())];
    at.order_name = order;
    if (at.order == at.cycle) at.cycle = FoundColumns::absent;
    break;
  }
  const auto required = [](const LongColumn& one) { return one.required; };
  at.unordered = at.order == FoundColumns::absent && missing_needed().empty() &&
                 std::any_of(known_.begin(), known_.end(), required);
  leave_read_voltage();
  for (std::size_t c = 0; c < names_.size(); ++c) {
    if (!taken_[c] && !aside_[c]) at.left.push_back(c);
  }
  if (!found_.has(device)) {
    const std::vector<std::size_t> told = device_columns(text_, at);
    for (const std::size_t c : told) taken_[c] = true;
    if (!told.empty()) take(device, told.size() == 1 ? told[0] : joined(told), "");
    std::erase_if(at.left, [&](std::size_t c) { return taken_[c]; });
  }
  at.device = found_.place[device];
  check_devices(text_, at, understood_.notes);
}

void ColumnFinder::find() {
  for (std::size_t k = 0; k < known_.size(); ++k) {
    if (found_.has(k)) continue;
    std::size_t best = FoundColumns::absent, rank = 0;
    for (std::size_t c = 0; c < names_.size(); ++c) {
      const auto own = taken_[c] || aside_[c] ? std::nullopt : rank_of(names_[c], known_[k]);
      if (own && is_number_of_device(k, c)) continue;
      if (!own || (best != FoundColumns::absent && *own > rank)) continue;
      if (best != FoundColumns::absent && *own == rank) {
        csv_fail(where_, fmt::format("column \"{}\" occurs twice", known_[k].name));
      }
      best = c;
      rank = *own;
    }
    if (best != FoundColumns::absent) take(k, best, "");
  }
  for (const ToldColumn& one : told_) {  // titles
    const std::size_t k = one.meaning == "device" ? device_at() : known_at(one.meaning.c_str());
    if (k < known_.size() && !found_.has(k) && !taken_[one.place] && !aside_[one.place]) take(k, one.place, "");
  }
  find_column_each();
  join_dates();
  for (std::size_t k = 0; k < known_.size(); ++k) {  // a column of words, whatever its name
    for (std::size_t c = 0; known_[k].word != nullptr && c < of_file_ && !found_.has(k); ++c) {
      if (!taken_[c] && !aside_[c] && holds_words(text_, c, known_[k])) take(k, c, "");
    }
  }
  // A column of "LTP" and "LTD" is the direction, whatever its name.
  const std::size_t direction = known_at("direction");
  for (std::size_t c = 0; direction < known_.size() && c < names_.size() && !found_.has(direction); ++c) {
    if (!taken_[c] && !aside_[c] && holds_directions(text_, c)) take(direction, c, "");
  }
}

void ColumnFinder::join_dates() {
  const auto holds = [&](std::size_t c, bool (*is)(const std::string&)) {
    CsvRow row;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      text_.row(i, row);
      if (c >= row.cells.size() || (!row.cells[c].empty() && !is(row.cells[c]))) return false;
    }
    return !text_.empty() && !text_.row(0).cells[c].empty();
  };
  const std::size_t k = known_at("time");
  if (k == known_.size() || !found_.has(k) || !holds(found_.place[k], is_time_of_day)) return;
  for (std::size_t c = 0; c < of_file_; ++c) {
    if (taken_[c] || aside_[c] || !holds(c, is_day)) continue;
    std::erase_if(understood_.columns, [](const Understood::Column& one) { return one.meaning == "time"; });
    return take(k, joined({c, found_.place[k]}, " "), "");
  }
}

bool ColumnFinder::finds(const char* name) const {
  const std::size_t k = known_at(name);
  for (std::size_t c = 0; k < known_.size() && c < names_.size(); ++c) {
    if (!taken_[c] && !aside_[c] && rank_of(names_[c], known_[k])) return true;
  }
  return false;
}

void ColumnFinder::refuse_left_readings() const {
  std::size_t k = known_.size();
  for (const char* reading : {"r_on", "g_on", "resistance", "conductance"}) k = has(reading) ? known_at(reading) : k;
  if (chosen_ || k == known_.size()) return;
  const auto is_unit = [](const std::string& unit, Unit of) { return read_quantity("1 " + unit, of).problem.empty(); };
  const std::vector<bool> statistics = statistics_among(names_);
  bool alike = !each_.empty() ||
               (found_.place[k] < of_file_ && (known_[k].name == "conductance" || known_[k].name == "resistance"));
  std::vector<std::string> all = each_.empty() ? std::vector{names_[found_.place[k]]} : each_, others;
  for (std::size_t c = 0; c < of_file_; ++c) {
    const std::string unit = taken_[c] || aside_[c] || statistics[c] ? "" : unit_beside(text_, c);
    if (unit.empty() || !(is_unit(unit, Unit::siemens) || is_unit(unit, Unit::ohm))) continue;
    alike = alike && is_unit(unit, known_[k].unit);
    all.push_back(names_[c]);
    others.push_back("aside=" + names_[c]);
  }
  if (others.empty()) return;
  const std::string together = fmt::format("\"{}={} {}\" or ", known_[k].name, fmt::join(all, "+"), found_.unit[k]);
  csv_fail(where_, fmt::format("column \"{}\" is one more {}: of another device? Say --columns {}\"{}\"",
                               others[0].substr(6), known_[k].name, alike ? together : "", fmt::join(others, ",")));
}

FoundColumns ColumnFinder::done(const std::string& hint) {
  refuse_left_readings();
  const std::vector<std::string> missed = missing();
  const bool foreign = missed.size() == known_.size();
  for (std::size_t c = 0; c < names_.size(); ++c) {
    if (taken_[c]) continue;
    if (names_[c] == place_name(c) || aside_[c]) {
      understood_.left_columns.push_back(names_[c]);
      continue;
    }
    const std::string name = named_unit(names_[c]).name;
    if (foreign || !nearest(name, missed).empty()) {
      csv_fail(where_, fmt::format("unknown column \"{}\" ({}{})", names_[c],
                                   did_you_mean(name, foreign ? column_names(known_) : missed), foreign ? hint : ""));
    }
    understood_.left_columns.push_back(names_[c]);
  }
  return found_;
}

std::vector<std::string> ColumnFinder::missing_needed() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < known_.size(); ++k) {
    if (known_[k].required && !found_.has(k)) names.push_back(known_[k].name);
  }
  return names;
}

std::size_t ColumnFinder::known_at(const char* name) const {
  const auto own = std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return one.name == name; });
  return static_cast<std::size_t>(own - known_.begin());
}

void ColumnFinder::leave_read_voltage() {
  const std::size_t k = known_at("read_voltage");
  if (k == known_.size() || !found_.has(k) || has("current")) return;
  taken_[found_.place[k]] = false;
  found_.place[k] = FoundColumns::absent;
  std::erase_if(understood_.columns, [](const Understood::Column& one) { return one.meaning == "read_voltage"; });
}

bool ColumnFinder::is_number_of_device(std::size_t k, std::size_t c) const {
  const NamedUnit cell = named_unit(names_[c]);
  const std::string &name = known_[k].name, word = word_of(cell.name);
  if ((name != "current" && name != "resistance") || word.size() > 2 || !cell.unit.empty()) return false;
  if (!has("conductance") && !(name == "current" && has("resistance"))) return false;
  return word == "id" || holds_few_whole_numbers(text_, c);
}

std::vector<std::string> ColumnFinder::missing() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < known_.size(); ++k) {
    if (!found_.has(k)) names.push_back(known_[k].name);
  }
  return names;
}

std::string ColumnFinder::unit_of(std::size_t k, std::size_t c) const {
  const std::string named = named_unit(names_[c]).unit;
  if (c >= text_.units.cells.size() || text_.units.cells[c] == "-" || text_.units.cells[c] == "1") return named;
  std::string below = named_unit("x " + text_.units.cells[c]).unit;
  if (below.empty()) below = named_unit("x" + text_.units.cells[c]).unit;  // (uS), [uS]
  if (named.empty() || below.empty()) return named.empty() ? below : named;
  const std::string place = text_.place(text_.units);
  if (factor_of(named, known_[k].unit, names_[c], where_) == factor_of(below, known_[k].unit, names_[c], place)) {
    return named;
  }
  csv_fail(place, fmt::format("column \"{}\" is in {} by its name and in {} by this line: say which with --columns "
                              "\"{}={} {}\"",
                              names_[c], named, below, known_[k].name, names_[c], below));
}

void ColumnFinder::check_marks(std::size_t c) {
  if (c >= text_.marks.size()) return;
  const NumberMarks& own = text_.marks[c];
  if (own.refused) {
    try {
      text_.refuse_doubt(c);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}, or say --columns \"decimal=point\" or \"decimal=comma\"", error.what()));
    }
  }
  if (!own.thousands.empty() && !decimal_told_) {
    understood_.notes.push_back(
        fmt::format("digits of column {} are in groups of three, with \"{}\" between them", names_[c], own.thousands));
  }
}

void ColumnFinder::take(std::size_t k, std::size_t c, std::string unit) {
  if (known_[k].unit == Unit::none) unit.clear();
  if (known_[k].unit != Unit::none && unit.empty()) unit = unit_of(k, c);
  if (known_[k].unit != Unit::none) check_marks(c);
  const bool assumed = unit.empty() && !known_[k].untold.empty();
  if (assumed) unit = known_[k].untold;
  found_.reciprocal[k] = may_be_resistance(known_[k], unit);
  found_.factor[k] = factor_of(unit, found_.reciprocal[k] ? Unit::ohm : known_[k].unit, names_[c], where_);
  found_.place[k] = c;
  found_.unit[k] = unit;
  taken_[c] = true;
  const std::string_view si = unit_symbol(known_[k].unit);
  understood_.columns.push_back({known_[k].name, names_[c],
                                 assumed                        ? unit + " (no unit told)"
                                 : !unit.empty()                ? unit
                                 : known_[k].unit == Unit::none ? ""
                                                                : std::string(si)});
}

FoundColumns find_columns(MeasuredText& text, const std::vector<LongColumn>& known, TableLook& look,
                          const std::string& hint) {
  text.leave_blank_rows();
  const std::vector<std::vector<TableTitle>> tables = text.part_tables();
  const bool cycles = place_among(known, "cycle") < known.size();
  const TitleLabels titles = tables.empty() ? TitleLabels{} : label_by_titles(text, tables, cycles);
  ColumnFinder finder(text, known, titles.columns);
  finder.choose(look.columns);
  finder.find();
  finder.find_devices();
  std::vector<std::string> needed = finder.missing_needed();
  FoundColumns found = finder.done(hint);
  if (finder.has_reading()) std::erase(needed, "conductance");
  if (!needed.empty()) fail_missing(text, known, needed.front());
  refuse_told_units(text, known, found, titles.units);
  Understood said = layout_of(text);
  said.columns = finder.understood().columns;
  said.left_columns = finder.understood().left_columns;
  said.notes.insert(said.notes.end(), finder.understood().notes.begin(), finder.understood().notes.end());
  leave_second_readings(text, known, found, said);
  look.understood.push_back(std::move(said));
  return found;
}

}  // namespace nudge
