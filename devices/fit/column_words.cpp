// SPDX-License-Identifier: Apache-2.0
// What people call the columns of a table.
#include "devices/fit/column_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <map>
#include <string_view>

namespace nudge {

namespace {

/// Bytes of a blank, a dash or a quotation mark beyond ASCII that a text begins with; 0: it begins with none.
std::size_t mark_size(std::string_view text) {
  for (const std::string_view mark : {"\u00A0", "\u202F", "\uFEFF"}) {
    if (text.starts_with(mark)) return mark.size();
  }
  const bool general = text.size() > 2 && text.starts_with("\xE2\x80");  // U+2000 to U+201F
  return general && static_cast<unsigned char>(text[2]) < 0xA0 ? 3 : 0;
}

}  // namespace

std::string word_of(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (const std::size_t mark = mark_size(std::string_view(name).substr(i)); mark > 0) {
      i += mark - 1;
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '#' || static_cast<unsigned char>(c) > 127) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

/// Name in lower case, letters and digits alone, without "no", "id", "index" at its end.
std::string device_stem(const std::string& name) {
  std::string word = word_of(named_unit(name).name);
  std::erase(word, '#');
  for (const std::string_view end :
       {"number", "index", "label", "name", "addr", "num", "idx", "pos", "id", "no", "nr"}) {
    if (word.size() > end.size() + 1 && word.ends_with(end)) return word.substr(0, word.size() - end.size());
  }
  return word;
}

namespace {

/// What people call a column, the best name first. Rows and columns of an array go by their stems (device_stem()).
std::vector<std::string> words_of(const std::string& column) {
  static const std::map<std::string, std::vector<std::string>> others = {
      {"conductance", {"g", "cond", "leitwert"}},
      {"resistance", {"r", "res", "widerstand"}},
      {"current", {"i", "id", "iread", "readcurrent", "ai", "smu1current", "draincurrent", "current1", "strom"}},
      {"read_voltage", {"vread"}},
      {"voltage",
       {"v", "vpulse", "pulsevoltage", "amplitude", "pulseamplitude", "u", "av", "smu1voltage", "voltage1",
        "spannung"}},
      {"width", {"pulsewidth", "pw", "tpulse", "duration"}},
      {"pulse",
       {"pulse#", "pulsenumber", "pulseno", "pulseindex", "puls", "pulsnummer", "n", "#", "no", "nr", "step", "index"}},
      {"direction", {"dir", "polarity", "richtung"}},
      {"device", {"dut", "deviceid", "device#", "deviceno", "dutid", "dutno", "dut#", "address", "cell", "memristor"}},
      {"cycle",
       {"cycle#", "cyclenumber", "cycleno", "cyclenr", "#cycles", "cycles", "loop", "run", "repeat", "repetition",
        "trial", "zyklus", "cyc", "sweep"}},
      {"cell", {"cellid", "cell#", "cellno", "address", "device", "deviceid", "dut", "memristor"}},
      {"time", {"t", "smu1time", "elapsed", "timeafterprogramming", "timestamp", "datetime", "unixtime", "zeit"}},
      {"programming_time", {"programmedat", "timeofprogramming", "tprog", "starttime", "writetime"}},
      {"r_on", {"lrs", "rlrs", "rlow", "lowresistance", "on"}},
      {"r_off", {"hrs", "rhrs", "rhigh", "highresistance", "off"}},
      {"g_on", {"glrs", "ghigh", "highconductance", "gmax", "lrs", "on"}},
      {"g_off", {"ghrs", "glow", "lowconductance", "gmin", "hrs", "off"}},
      {"reads", {"read", "read#", "readnumber", "readcount", "nreads", "numberofreads"}},
      {"start",
       {"initial", "ginitial", "initialg", "ginit", "rinitial", "initialconductance", "gstart", "g0", "programmed",
        "rstart", "r0", "startresistance"}},
      {"level", {"state"}},
      {"weight", {"w", "weights", "value", "values"}},
      {"state", {"resistancestate", "memorystate", "zustand"}},
      {"nominal", {"nominaltime"}},
      {"row", {"wl", "wordline", "wordl", "rowline", "zeile", "y", "ycoordinate", "i", "r"}},
      {"column", {"col", "bl", "bitline", "bitl", "colline", "spalte", "x", "xcoordinate", "j", "c"}},
      {"code", {"adccode", "daccode", "outputcode", "inputcode", "codes"}},
      {"inl", {"inllsb", "inlinlsb", "integralnonlinearity", "integralnonlinearitylsb"}},
      {"dnl", {"dnllsb", "dnlinlsb", "differentialnonlinearity", "differentialnonlinearitylsb"}}};
  std::vector<std::string> words{word_of(column)};
  if (const auto more = others.find(column); more != others.end()) {
    words.insert(words.end(), more->second.begin(), more->second.end());
  }
  return words;
}

}  // namespace

bool may_be_resistance(const LongColumn& column, const std::string& unit) {
  return column.name == "start" && !unit.empty() && read_quantity("1 " + unit, Unit::ohm).problem.empty();
}

std::optional<std::size_t> rank_of(const std::string& name, const LongColumn& column) {
  const NamedUnit cell = named_unit(name);
  const bool line = column.name == "row" || column.name == "column";  // of an array
  const std::string word =
      line ? device_stem(name) : word_of(column.unit == Unit::none ? cell.name + cell.unit : cell.name);
  const std::vector<std::string> words = words_of(column.name);
  const auto at = std::find_if(words.begin(), words.end(), [&](const std::string& one) {
    return one == word || (line && one.size() > 1 && word == one + "s");
  });
  if (at == words.end()) return {};
  // T (K) is no time: a short name counts where its unit fits.
  const bool fits = cell.unit.empty() || column.unit == Unit::none || may_be_resistance(column, cell.unit) ||
                    read_quantity("1 " + cell.unit, column.unit).problem.empty();
  if (at != words.begin() && !fits) return {};
  return static_cast<std::size_t>(at - words.begin());
}

std::optional<Direction> direction_word(const std::string& cell) {
  struct Word {
    std::string_view word;
    Direction direction;
    bool numbered;  // P1 and pos1 are places as often
  };
  static constexpr Direction up = Direction::up, down = Direction::down;
  static constexpr std::array<Word, 33> words{
      {{"up", up, true},         {"set", up, true},        {"ltp", up, true},          {"potentiation", up, true},
       {"potentiate", up, true}, {"pot", up, true},        {"increase", up, true},     {"inc", up, true},
       {"program", up, true},    {"pgm", up, true},        {"\u2191", up, false},      {"p", up, false},
       {"write", up, true},      {"w", up, false},         {"u", up, false},           {"e", down, false},
       {"positive", up, false},  {"pos", up, false},       {"down", down, true},       {"reset", down, true},
       {"rst", down, true},      {"ltd", down, true},      {"depression", down, true}, {"depress", down, true},
       {"dep", down, true},      {"decrease", down, true}, {"dec", down, true},        {"erase", down, true},
       {"ers", down, true},      {"\u2193", down, false},  {"d", down, false},         {"negative", down, false},
       {"neg", down, false}}};
  const std::string whole = boost::to_lower_copy(boost::trim_copy(cell));
  const std::size_t digits = whole.find_last_not_of("0123456789") + 1;
  const bool numbered = digits < whole.size();
  const std::string word =
      numbered ? boost::trim_right_copy_if(whole.substr(0, digits), boost::is_any_of(" _-#.")) : whole;
  const auto own = std::find_if(words.begin(), words.end(),
                                [&](const Word& one) { return one.word == word && (one.numbered || !numbered); });
  return own == words.end() ? std::nullopt : std::optional(own->direction);
}

std::string unit_below(const MeasuredText& text, std::size_t c) {
  return c < text.units.cells.size() ? named_unit("x (" + text.units.cells[c] + ")").unit : "";
}

std::string unit_beside(const MeasuredText& text, std::size_t c) {
  std::string name = text.header.cells[c].substr(0, text.header.cells[c].find_last_not_of("0123456789") + 1);
  if (name.size() < text.header.cells[c].size() && name.ends_with(").")) {
    name.pop_back();  // "G (uS).1" of pandas
  } else {
    name = text.header.cells[c];
  }
  const std::string named = named_unit(name).unit;
  return named.empty() ? unit_below(text, c) : named;
}

std::string place_name(std::size_t c) { return fmt::format("COL{}", c + 1); }

std::optional<double> state_word(const std::string& cell) {
  constexpr std::array on = {"lrs", "on", "set", "r_on", "ron", "low resistance"};
  constexpr std::array off = {"hrs", "off", "reset", "r_off", "roff", "high resistance"};
  const auto is = [&](const char* word) { return boost::iequals(cell, word); };
  if (std::any_of(on.begin(), on.end(), is)) return 1;
  return std::any_of(off.begin(), off.end(), is) ? std::optional(0.0) : std::nullopt;
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

void take_commented_names(MeasuredText& text, const std::vector<LongColumn>& known) {
  CsvRow names = text.commented_names();
  if (names.cells.empty()) return;
  text.header = std::move(names);
  if (!names_columns(text, known)) {
    text.header = {};
    return;
  }
  const std::string own = text.line_text(text.header.line);
  for (const int line : text.comment_lines()) {
    if (line <= text.line(0) || text.line_text(line) != own) continue;
    csv_fail(text.place(line),
             "names of columns in a comment, again: tables below each other need their names and titles "
             "without a mark for comments");
  }
}

void name_by_place(MeasuredText& text) {
  if (!text.header.cells.empty() || text.empty()) return;
  for (std::size_t c = 0; c < text.row(0).cells.size(); ++c) text.header.cells.push_back(place_name(c));
}

}  // namespace nudge
