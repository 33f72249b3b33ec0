// SPDX-License-Identifier: Apache-2.0
// Columns of a table of measurements by what people call them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"
#include "devices/fit/long_table.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/suggest.hpp"

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

/// Search for the columns of one table.
class Finder {
 public:
  Finder(MeasuredText& text, const std::vector<LongColumn>& known)
      : text_(text),
        known_(known),
        names_(text.header.cells),
        taken_(names_.size(), false),
        aside_(names_.size(), false),
        where_(text.place(text.header)) {
    found_.place.assign(known.size(), FoundColumns::absent);
    found_.unit.assign(known.size(), "");
    found_.factor.assign(known.size(), 1);
    found_.reciprocal.assign(known.size(), false);
  }

  /// Takes "g=COL3,t=COL1 ms".
  void choose(const std::string& choice) {
    if (choice.empty()) return;
    std::vector<std::string> parts;
    boost::split(parts, choice, boost::is_any_of(","));
    for (const std::string& part : parts) {
      const std::size_t equal = part.find('=');
      const std::string key = boost::trim_copy(part.substr(0, equal));
      if (equal != std::string::npos && take_other(key, boost::trim_copy(part.substr(equal + 1)))) continue;
      const auto k =
          std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return rank_of(key, one); });
      if (equal == std::string::npos || k == known_.end()) {
        throw UserError(fmt::format(
            "--columns \"{}\": \"{}\" (write NAME=COLUMN UNIT, like g=COL3 uS; names: {}, aside, decimal, polarity)",
            choice, boost::trim_copy(part), fmt::join(column_names(known_), ", ")));
      }
      std::string column = boost::trim_copy(part.substr(equal + 1)), unit;
      std::size_t at = column_of(column, *k);
      if (const std::size_t blank = column.rfind(' '); at == FoundColumns::absent && blank != std::string::npos) {
        unit = column.substr(blank + 1);
        column = boost::trim_copy(column.substr(0, blank));
        at = column_of(column, *k);
      }
      if (at == FoundColumns::absent) fail_absent(column);
      auto meaning = static_cast<std::size_t>(k - known_.begin());
      const bool ohms =
          k->name == "conductance" && !unit.empty() && read_quantity("1 " + unit, Unit::ohm).problem.empty();
      if (ohms && known_at("resistance") < known_.size()) meaning = known_at("resistance");
      refuse_second(meaning, at);
      take(meaning, at, unit);
    }
  }

  /// Takes columns that tell devices apart together, where no column is named for devices; refuses what would be one device
  /// in silence.
  void find_devices() {
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

  /// Takes each known column by the best of its names.
  void find() {
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
    find_column_each();
    // A column of "LTP" and "LTD" is the direction, whatever its name.
    const std::size_t direction = known_at("direction");
    for (std::size_t c = 0; direction < known_.size() && c < names_.size() && !found_.has(direction); ++c) {
      if (!taken_[c] && !aside_[c] && holds_directions(text_, c)) take(direction, c, "");
    }
  }

  /// Refuses a column that may be a slip for one that is missing, and a table of which none is known; names the others.
  FoundColumns done(const std::string& hint) {
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
  const Understood& understood() const { return understood_; }
  /// True of a conductance, or of what stands for one.
  bool has_reading() const { return has("conductance") || has("resistance") || has("current"); }

  std::vector<std::string> missing_needed() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (known_[k].required && !found_.has(k)) names.push_back(known_[k].name);
    }
    return names;
  }

 private:
  /// Refuses a choice that gives a column a second meaning, or a meaning a second column.
  void refuse_second(std::size_t k, std::size_t c) const {
    if (found_.has(k)) {
      csv_fail(where_, fmt::format("--columns: {} is both \"{}\" and \"{}\" (give it one column)", known_[k].name,
                                   names_[found_.place[k]], names_[c]));
    }
    const auto first = std::find(found_.place.begin(), found_.place.end(), c);
    if (first == found_.place.end()) return;
    csv_fail(where_, fmt::format("--columns: column \"{}\" is both {} and {} (give it one meaning)", names_[c],
                                 known_[static_cast<std::size_t>(first - found_.place.begin())].name, known_[k].name));
  }

  /// Place of a known column among them; their number: it is none of them.
  std::size_t known_at(const char* name) const {
    const auto own =
        std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return one.name == name; });
    return static_cast<std::size_t>(own - known_.begin());
  }
  bool has(const char* name) const { return known_at(name) < known_.size() && found_.has(known_at(name)); }

  /// Leaves voltages of reads aside where there is no current: they may be what differs between devices.
  void leave_read_voltage() {
    const std::size_t k = known_at("read_voltage");
    if (k == known_.size() || !found_.has(k) || has("current")) return;
    taken_[found_.place[k]] = false;
    found_.place[k] = FoundColumns::absent;
    std::erase_if(understood_.columns, [](const Understood::Column& one) { return one.meaning == "read_voltage"; });
  }

  /// True of a column I, R or ID without a unit beside conductances that counts lines of an array: no current, no resistance.
  bool is_number_of_device(std::size_t k, std::size_t c) const {
    const NamedUnit cell = named_unit(names_[c]);
    const std::string &name = known_[k].name, word = word_of(cell.name);
    if ((name != "current" && name != "resistance") || word.size() > 2 || !cell.unit.empty()) return false;
    if (!has("conductance") && !(name == "current" && has("resistance"))) return false;
    return word == "id" || holds_few_whole_numbers(text_, c);
  }

  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!found_.has(k)) names.push_back(known_[k].name);
    }
    return names;
  }

  [[noreturn]] void fail_absent(const std::string& column) const {
    csv_fail(where_,
             fmt::format("--columns: there is no column \"{}\" (columns: {})", column, fmt::join(names_, ", ")));
  }

  /// Takes "aside=note", which leaves a column aside, and "decimal=point" or "decimal=comma".
  bool take_other(const std::string& key, const std::string& value) {
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

  /// Finds a table with a column for each device, or for each cycle: "dev1 (uS), dev2 (uS)".
  void find_column_each() {
    if (has_reading() || known_at("conductance") == known_.size()) return;
    const ColumnEach each = column_each(text_, taken_, aside_);
    const std::size_t k = known_at(each.reading.c_str());
    if (each.columns.empty() || k == known_.size()) return;
    const std::size_t c = stacked(each.columns, each.of_cycles);
    if (c != FoundColumns::absent) take(k, c, each.unit);
  }

  /// Column that holds others below each other; their names tell devices, or cycles. Absent where columns tell both already.
  std::size_t stacked(const std::vector<std::size_t>& columns, bool of_cycles) {
    std::size_t k = known_at("device") < known_.size() ? known_at("device") : known_at("cell");
    if (of_cycles || (k < known_.size() && found_.has(k))) k = known_at("cycle");
    if (k == known_.size() || found_.has(k)) return FoundColumns::absent;
    for (const std::size_t c : columns) taken_[c] = true, check_marks(c);
    const std::string all = names_[columns.front()] + (columns.size() > 2 ? " to " : ", ") + names_[columns.back()];
    text_.stack(columns, all, "names of columns");
    const std::size_t cells = added(all);
    take(k, added("names of columns"), "");
    return cells;
  }

  /// Place of a column that the table got behind its own.
  std::size_t added(const std::string& name) {
    names_.push_back(name);
    taken_.push_back(true);
    aside_.push_back(false);
    return names_.size() - 1;
  }

  /// Column that holds others side by side.
  std::size_t joined(const std::vector<std::size_t>& columns) {
    std::vector<std::string> parts;
    for (const std::size_t c : columns) parts.push_back(names_[c]), taken_[c] = true;
    const std::string name = fmt::format("{}", fmt::join(parts, "+"));
    text_.join(columns, name);
    return added(name);
  }

  /// Place of a column by its name, of its number (COL3), or of several as "row+col": side by side, or below each other.
  std::size_t column_of(const std::string& column, const LongColumn& of) {
    const std::size_t one = place_of(column);
    if (one != FoundColumns::absent || column.find('+') == std::string::npos) return one;
    std::vector<std::string> parts;
    boost::split(parts, column, boost::is_any_of("+"));
    std::vector<std::size_t> places;
    for (const std::string& part : parts) {
      places.push_back(place_of(boost::trim_copy(part)));
      if (places.back() == FoundColumns::absent) return places.back();
    }
    const bool reads = of.name == "conductance" || of.name == "resistance" || of.name == "current";
    return reads ? stacked(places, false) : joined(places);
  }

  std::size_t place_of(const std::string& column) const {
    const auto named = std::find(names_.begin(), names_.end(), column);
    if (named != names_.end()) return static_cast<std::size_t>(named - names_.begin());
    if (!column.starts_with("COL")) return FoundColumns::absent;
    char* end = nullptr;
    const long number = std::strtol(column.c_str() + 3, &end, 10);
    const bool there = *end == 0 && number >= 1 && number <= static_cast<long>(names_.size());
    return there ? static_cast<std::size_t>(number - 1) : FoundColumns::absent;
  }

  /// Unit in the name of a column, or in the line below it; refuses two that differ.
  std::string unit_of(std::size_t k, std::size_t c) const {
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

  /// Refuses numbers with two readings, and says that digits are grouped.
  void check_marks(std::size_t c) {
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
      understood_.notes.push_back(fmt::format("digits of column {} are in groups of three, with \"{}\" between them",
                                              names_[c], own.thousands));
    }
  }

  void take(std::size_t k, std::size_t c, std::string unit) {
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

  MeasuredText& text_;
  const std::vector<LongColumn>& known_;
  std::vector<std::string> names_;
  std::vector<bool> taken_, aside_;  ///< read; left aside by the user
  std::string where_;
  bool decimal_told_ = false;  ///< by the user
  FoundColumns found_;
  Understood understood_;
};

}  // namespace

FoundColumns find_columns(MeasuredText& text, const std::vector<LongColumn>& known, TableLook& look,
                          const std::string& hint) {
  Finder finder(text, known);
  finder.choose(look.columns);
  finder.find();
  finder.find_devices();
  std::vector<std::string> needed = finder.missing_needed();
  FoundColumns found = finder.done(hint);
  if (finder.has_reading()) std::erase(needed, "conductance");
  if (!needed.empty()) fail_missing(text, known, needed.front());
  refuse_told_units(text, known, found);
  Understood said = layout_of(text);
  said.columns = finder.understood().columns;
  said.left_columns = finder.understood().left_columns;
  said.notes.insert(said.notes.end(), finder.understood().notes.begin(), finder.understood().notes.end());
  leave_second_readings(text, known, found, said);
  look.understood.push_back(std::move(said));
  return found;
}

}  // namespace nudge
