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

/// Name as a word: lower case, without blanks and marks.
std::string word_of(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '#') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

/// What people call a column, the best name first.
std::vector<std::string> words_of(const std::string& column) {
  static const std::map<std::string, std::vector<std::string>> others = {
      {"conductance", {"g", "cond"}},
      {"resistance", {"r", "res"}},
      {"current", {"i", "id", "iread", "readcurrent"}},
      {"read_voltage", {"vread"}},
      {"voltage", {"v", "vpulse", "pulsevoltage", "amplitude", "pulseamplitude"}},
      {"width", {"pulsewidth", "pw", "tpulse", "duration"}},
      {"pulse", {"pulse#", "pulsenumber", "pulseno", "pulseindex", "n", "#"}},
      {"direction", {"dir", "polarity"}},
      {"device", {"dut", "deviceid", "address", "cell", "chip"}},
      {"cycle", {"cycle#", "cyclenumber", "loop", "run"}},
      {"cell", {"cellid", "address", "device", "dut"}},
      {"time", {"t", "elapsed", "timeafterprogramming", "timestamp", "datetime", "unixtime"}},
      {"programming_time", {"programmedat", "timeofprogramming", "tprog", "starttime", "writetime"}},
      {"r_on", {"lrs", "rlrs", "rlow", "lowresistance", "on"}},
      {"r_off", {"hrs", "rhrs", "rhigh", "highresistance", "off"}},
      {"g_on", {"glrs", "ghigh", "highconductance", "gmax", "lrs", "on"}},
      {"g_off", {"ghrs", "glow", "lowconductance", "gmin", "hrs", "off"}},
      {"reads", {"read", "read#", "readnumber", "readcount", "nreads", "numberofreads"}},
      {"start", {"initial", "gstart", "g0", "programmed"}},
      {"level", {"state"}},
      {"nominal", {"nominaltime"}},
      {"code", {"adccode", "daccode", "outputcode", "inputcode", "codes"}},
      {"inl", {"inllsb", "inlinlsb", "integralnonlinearity", "integralnonlinearitylsb"}},
      {"dnl", {"dnllsb", "dnlinlsb", "differentialnonlinearity", "differentialnonlinearitylsb"}}};
  std::vector<std::string> words{word_of(column)};
  if (const auto more = others.find(column); more != others.end()) {
    words.insert(words.end(), more->second.begin(), more->second.end());
  }
  return words;
}

/// Place of a name among the words of a column; nothing: it is none of them.
std::optional<std::size_t> rank_of(const std::string& name, const LongColumn& column) {
  const NamedUnit cell = named_unit(name);
  const std::string word = word_of(column.unit == Unit::none ? cell.name + cell.unit : cell.name);
  const std::vector<std::string> words = words_of(column.name);
  const auto at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return {};
  // T (K) is no time: a short name counts where its unit fits.
  const bool fits =
      cell.unit.empty() || column.unit == Unit::none || read_quantity("1 " + cell.unit, column.unit).problem.empty();
  if (at != words.begin() && !fits) return {};
  return static_cast<std::size_t>(at - words.begin());
}

double factor_of(const std::string& unit, Unit of, const std::string& name, const std::string& where) {
  if (unit.empty() || of == Unit::none) return 1;
  const Quantity q = read_quantity("1 " + unit, of);
  if (!q.problem.empty()) csv_fail(where, fmt::format("column \"{}\": {}", name, q.problem));
  return q.value;
}

/// Names of name_by_place() tell nothing of what a column holds.
std::string place_name(std::size_t c) { return fmt::format("COL{}", c + 1); }

/// Search for the columns of one table.
class Finder {
 public:
  Finder(const MeasuredText& text, const std::vector<LongColumn>& known)
      : text_(text),
        known_(known),
        names_(text.header.cells),
        taken_(names_.size(), false),
        where_(text.place(text.header)) {
    found_.place.assign(known.size(), FoundColumns::absent);
    found_.unit.assign(known.size(), "");
    found_.factor.assign(known.size(), 1);
  }

  /// Takes "g=COL3,t=COL1 ms".
  void choose(const std::string& choice) {
    if (choice.empty()) return;
    std::vector<std::string> parts;
    boost::split(parts, choice, boost::is_any_of(","));
    for (const std::string& part : parts) {
      const std::size_t equal = part.find('=');
      const std::string key = boost::trim_copy(part.substr(0, equal));
      const auto k =
          std::find_if(known_.begin(), known_.end(), [&](const LongColumn& one) { return rank_of(key, one); });
      if (equal == std::string::npos || k == known_.end()) {
        throw UserError(fmt::format("--columns \"{}\": \"{}\" (write NAME=COLUMN UNIT, like g=COL3 uS; names: {})",
                                    choice, boost::trim_copy(part), fmt::join(column_names(known_), ", ")));
      }
      std::string column = boost::trim_copy(part.substr(equal + 1)), unit;
      std::size_t at = place_of(column);
      if (const std::size_t blank = column.rfind(' '); at == FoundColumns::absent && blank != std::string::npos) {
        unit = column.substr(blank + 1);
        column = boost::trim_copy(column.substr(0, blank));
        at = place_of(column);
      }
      if (at == FoundColumns::absent) {
        csv_fail(where_,
                 fmt::format("--columns: there is no column \"{}\" (columns: {})", column, fmt::join(names_, ", ")));
      }
      const auto meaning = static_cast<std::size_t>(k - known_.begin());
      refuse_second(meaning, at);
      take(meaning, at, unit);
    }
  }

  /// Takes each known column by the best of its names.
  void find() {
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (found_.has(k)) continue;
      std::size_t best = FoundColumns::absent, rank = 0;
      for (std::size_t c = 0; c < names_.size(); ++c) {
        const auto own = taken_[c] ? std::nullopt : rank_of(names_[c], known_[k]);
        if (!own || (best != FoundColumns::absent && *own > rank)) continue;
        if (best != FoundColumns::absent && *own == rank) {
          csv_fail(where_, fmt::format("column \"{}\" occurs twice", known_[k].name));
        }
        best = c;
        rank = *own;
      }
      if (best != FoundColumns::absent) take(k, best, "");
    }
  }

  /// Refuses a column that may be a slip for one that is missing, and a table of which none is known; names the others.
  FoundColumns done(const std::string& hint) {
    const std::vector<std::string> missed = missing();
    const bool foreign = missed.size() == known_.size();
    for (std::size_t c = 0; c < names_.size(); ++c) {
      if (taken_[c]) continue;
      if (names_[c] == place_name(c)) {
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

  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!found_.has(k)) names.push_back(known_[k].name);
    }
    return names;
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

  void take(std::size_t k, std::size_t c, std::string unit) {
    if (unit.empty()) unit = named_unit(names_[c]).unit;
    if (unit.empty() && c < text_.units.cells.size() && text_.units.cells[c] != "-" && text_.units.cells[c] != "1") {
      unit = named_unit("x " + text_.units.cells[c]).unit;
      if (unit.empty()) unit = named_unit("x" + text_.units.cells[c]).unit;  // (uS), [uS]
    }
    if (known_[k].unit == Unit::none) unit.clear();
    found_.factor[k] = factor_of(unit, known_[k].unit, names_[c], where_);
    found_.place[k] = c;
    found_.unit[k] = unit;
    taken_[c] = true;
    const std::string_view si = unit_symbol(known_[k].unit);
    understood_.columns.push_back({known_[k].name, names_[c],
                                   !unit.empty()                  ? unit
                                   : known_[k].unit == Unit::none ? ""
                                                                  : std::string(si)});
  }

  const MeasuredText& text_;
  const std::vector<LongColumn>& known_;
  std::vector<std::string> names_;
  std::vector<bool> taken_;
  std::string where_;
  FoundColumns found_;
  Understood understood_;
};

/// True of names that tell devices apart, of which one column is read: "chip" beside "cell".
bool tells_devices(const std::string& name) {
  const std::vector<std::string> names = {"chip",   "die", "wafer",   "array", "sample",
                                          "device", "dut", "address", "cell"};
  return std::find(names.begin(), names.end(), word_of(named_unit(name).name)) != names.end();
}

/// Refuses a column left aside that tells apart what the column of devices or cells has under one name.
void check_devices(const MeasuredText& text, std::size_t own, const std::vector<std::string>& left) {
  for (std::size_t c = 0; c < text.header.cells.size(); ++c) {
    const std::string& name = text.header.cells[c];
    if (c == own || !tells_devices(name) || std::find(left.begin(), left.end(), name) == left.end()) continue;
    std::map<std::string, std::string> seen;
    CsvRow row;
    for (std::size_t i = 0; i < text.size(); ++i) {
      text.row(i, row);
      if (std::max(own, c) >= row.cells.size()) continue;  // told where rows are read
      const auto [at, fresh] = seen.emplace(row.cells[own], row.cells[c]);
      if (fresh || at->second == row.cells[c]) continue;
      csv_fail(
          text.place(row),
          fmt::format("\"{}\" of column {} is of {} \"{}\" here and of \"{}\" above: give every device a name of its "
                      "own in one column",
                      row.cells[own], text.header.cells[own], name, row.cells[c], at->second));
    }
  }
}

/// Required columns, with those that may stand for a conductance.
bool conductance_found(const std::vector<LongColumn>& known, const FoundColumns& found) {
  const auto has = [&](const char* name) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k].name == name) return found.has(k);
    }
    return false;
  };
  return has("conductance") || has("resistance") || has("current");
}

}  // namespace

std::string Understood::text(const std::string& mark) const {
  std::string out =
      fmt::format("{}{}: {}, {}{}; {}{}{} rows in lines {} to {}\n", mark, file, encoding, separator,
                  decimal_comma ? ", decimal comma" : "",
                  header_line > 0 ? fmt::format("names in line {}, ", header_line) : "no header, ",
                  unit_line > 0 ? fmt::format("units in line {}, ", unit_line) : "", rows, first_line, last_line);
  std::vector<std::string> taken;
  for (const Column& column : columns) {
    taken.push_back(fmt::format("{}{}{}", column.meaning,
                                column.name == column.meaning ? "" : fmt::format(" = \"{}\"", column.name),
                                column.unit.empty() ? "" : fmt::format(" in {}", column.unit)));
  }
  out += fmt::format("{}columns: {}\n", mark, fmt::join(taken, ", "));
  if (!left_columns.empty()) out += fmt::format("{}columns left aside: {}\n", mark, fmt::join(left_columns, ", "));
  if (!left_lines.empty()) out += fmt::format("{}lines left aside: {}\n", mark, fmt::join(left_lines, ", "));
  if (!missing_lines.empty()) {
    const std::size_t shown = std::min<std::size_t>(missing_lines.size(), 10);
    out +=
        fmt::format("{}{} readings are missing (an instrument's overflow): lines {}{}\n", mark, missing_lines.size(),
                    fmt::join(missing_lines.begin(), missing_lines.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < missing_lines.size() ? ", ..." : "");
  }
  for (const std::string& note : notes) out += fmt::format("{}note: {}\n", mark, note);
  return out;
}

bool names_columns(const MeasuredText& text, const std::vector<LongColumn>& known) {
  bool reading = false;
  std::size_t found = 0;
  for (const LongColumn& one : known) {
    const auto named = [&](const std::string& name) { return rank_of(name, one).has_value(); };
    if (!std::any_of(text.header.cells.begin(), text.header.cells.end(), named)) continue;
    ++found;
    reading = reading || one.name == "conductance" || one.name == "resistance" || one.name == "current";
  }
  return reading && found > 1;
}

ConductanceColumns add_conductance(std::vector<LongColumn>& known) {
  const auto place = [&](const char* name, Unit unit) {
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k].name == name) return k;
    }
    known.push_back({name, unit, false});
    return known.size() - 1;
  };
  return {place("conductance", Unit::siemens), place("resistance", Unit::ohm), place("current", Unit::ampere),
          place("read_voltage", Unit::volt)};
}

void name_by_place(MeasuredText& text) {
  if (!text.header.cells.empty() || text.empty()) return;
  for (std::size_t c = 0; c < text.row(0).cells.size(); ++c) text.header.cells.push_back(place_name(c));
}

Understood layout_of(const MeasuredText& text) {
  Understood said;
  said.file = text.file;
  said.encoding = text.encoding;
  said.separator = text.separator == '\t'  ? "separated by tabs"
                   : text.separator == ' ' ? "separated by blanks"
                                           : fmt::format("separated by \"{}\"", text.separator);
  said.decimal_comma = text.decimal_comma;
  said.header_line = text.header.line;
  said.unit_line = text.units.line;
  said.rows = text.size();
  said.first_line = text.empty() ? 0 : text.line(0);
  said.last_line = text.empty() ? 0 : text.line(text.size() - 1);
  said.left_lines = text.aside;
  return said;
}

FoundColumns find_columns(const MeasuredText& text, const std::vector<LongColumn>& known, TableLook& look,
                          const std::string& hint) {
  Finder finder(text, known);
  finder.choose(look.columns);
  finder.find();
  std::vector<std::string> needed = finder.missing_needed();
  const FoundColumns found = finder.done(hint);
  if (conductance_found(known, found)) std::erase(needed, "conductance");
  if (!needed.empty()) {
    csv_fail(text.place(text.header),
             fmt::format("column \"{}\" is missing (known: {}). Say which column it is with --columns \"{}=COL3\"",
                         needed.front(), fmt::join(column_names(known), ", "), needed.front()));
  }
  Understood said = layout_of(text);
  said.columns = finder.understood().columns;
  said.left_columns = finder.understood().left_columns;
  for (std::size_t k = 0; k < known.size(); ++k) {
    if ((known[k].name == "device" || known[k].name == "cell") && found.has(k)) {
      check_devices(text, found.place[k], said.left_columns);
    }
  }
  look.understood.push_back(std::move(said));
  return found;
}

}  // namespace nudge
