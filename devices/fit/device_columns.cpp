// SPDX-License-Identifier: Apache-2.0
// Columns that tell devices apart.
#include "devices/fit/device_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "devices/fit/column_words.hpp"
#include "sim/io/time_stamp.hpp"

namespace nudge {
namespace {

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& words, const std::string& name) {
  const std::string stem = device_stem(name);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return word == stem || stem == std::string(word) + "s"; });
}

constexpr std::array<std::string_view, 50> kTellers = {
    "device",  "dut",      "cell",     "memristor", "address",    "addr",      "chip",       "die",       "dice",
    "wafer",   "array",    "sample",   "pad",       "id",         "uid",       "site",       "structure", "module",
    "lot",     "crossbar", "junction", "element",   "crosspoint", "position",  "coordinate", "location",  "tile",
    "macro",   "bank",     "block",    "sl",        "sourceline", "subsite",   "reticle",    "field",     "serial",
    "sn",      "specimen", "channel",  "ch",        "contact",    "electrode", "testkey",    "teg",       "transistor",
    "synapse", "unit",     "zelle",    "bauteil",   "probe"};

/// True of a date, of which a column tells when and not which.
bool is_date(const std::string& cell) { return date_front(cell) || time_stamp_s(cell) || is_day(cell); }

/// True of words for directions and nothing else, of either direction one at least.
bool are_directions(const std::set<std::string>& cells) {
  bool up = false, down = false;
  for (const std::string& cell : cells) {
    if (cell.empty()) continue;  // of a start
    const std::optional<Direction> direction = direction_word(cell);
    if (!direction) return false;
    (*direction == Direction::up ? up : down) = true;
  }
  return up && down;
}

/// True of a name such as LTP2: it is no device's, while P may be.
bool is_long_direction(const std::string& cell) { return cell.empty() || (cell.size() > 1 && direction_word(cell)); }

/// Looks at one column beside the order, the cycle and the device.
struct ColumnSigns {
  std::set<std::string> values;
  std::size_t rows = 0, changes = 0, restarts = 0;  ///< restarts: changes at which the order begins anew
  int line = 0;                                     ///< of the first such change
  bool follows_order = true;                        ///< one value for each number of the order, and the reverse
  bool follows_cycle = true;                        ///< one value for each cycle of a device
  bool returns = false;                             ///< a value comes back after another one
  bool dates = true;

  bool varies() const { return values.size() > 1; }
  /// True of a column that counts rows: hardly a value occurs twice.
  bool counts_rows() const { return 2 * values.size() > rows; }
};

ColumnSigns signs_of(const MeasuredText& text, std::size_t c, const DeviceSearch& at) {
  ColumnSigns out;
  std::map<std::string, std::string> of_order, of_value, of_cycle;
  const auto same = [](std::map<std::string, std::string>& seen, const std::string& key, const std::string& value) {
    return seen.emplace(key, value).first->second == value;
  };
  CsvRow row;
  std::string last;
  double before = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    const auto cell = [&](std::size_t place) { return place < row.cells.size() ? row.cells[place] : std::string(); };
    const std::string value = cell(c), order = cell(at.order);
    const double now = std::strtod(order.c_str(), nullptr);
    ++out.rows;
    out.dates = out.dates && is_date(value);
    const bool changed = i > 0 && value != last;
    if (changed && out.values.count(value) > 0) out.returns = true;
    const bool start = at.direction != FoundColumns::absent && cell(at.direction).empty();
    const bool orders = at.order != FoundColumns::absent;
    if (changed && ++out.changes == 1 && !orders) out.line = row.line;
    if (changed && orders && (now < before || start) && ++out.restarts == 1) out.line = row.line;
    out.values.insert(value);
    out.follows_order = out.follows_order && at.order != FoundColumns::absent && same(of_order, order, value) &&
                        same(of_value, value, order);
    const std::string whose = at.device != FoundColumns::absent ? cell(at.device) + "\n" : "";
    out.follows_cycle =
        out.follows_cycle && at.cycle != FoundColumns::absent && same(of_cycle, whose + cell(at.cycle), value);
    last = value;
    before = now;
  }
  return out;
}

/// Line at which a device of the column `own` has another value in column `c` than before; 0: none.
std::optional<CsvRow> split_of(const MeasuredText& text, std::size_t own, std::size_t c, std::string& first) {
  std::map<std::string, std::string> seen;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (std::max(own, c) >= row.cells.size()) continue;  // told where rows are read
    const auto [at, fresh] = seen.emplace(row.cells[own], row.cells[c]);
    if (fresh || at->second == row.cells[c]) continue;
    first = at->second;
    return row;
  }
  return {};
}

}  // namespace

namespace {

/// True of a name of a line of an array; i and r, j and c tell in pairs alone.
bool names_line(const std::string& name, const char* line, const char* letter) {
  return rank_of(name, {line, Unit::none, false}) && (device_stem(name).size() > 1 || device_stem(name) == letter);
}

}  // namespace

bool names_row(const std::string& name) { return names_line(name, "row", "y"); }
bool names_column(const std::string& name) { return names_line(name, "column", "x"); }
bool tells_devices(const std::string& name) {
  const auto tells = [](const std::string& one) {
    return is_one_of(kTellers, one) || names_row(one) || names_column(one);
  };
  if (tells(name)) return true;
  // "Die X", "wafer no. / pad": every word tells, or numbers one that does.
  std::vector<std::string> words(1);
  for (const char c : named_unit(name).name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  constexpr std::array<std::string_view, 6> numbering = {"no", "nr", "number", "id", "index", "name"};
  return words.size() > 1 && tells(words[0]) &&
         std::all_of(words.begin() + 1, words.end(),
                     [&](const std::string& one) { return tells(one) || is_one_of(numbering, one); });
}

bool holds_directions(const MeasuredText& text, std::size_t c) {
  std::set<std::string> words;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (c >= row.cells.size() || (!row.cells[c].empty() && !direction_word(row.cells[c]))) return false;
    words.insert(row.cells[c]);
  }
  return are_directions(words);
}

bool holds_words(const MeasuredText& text, std::size_t c, const LongColumn& column) {
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (c >= row.cells.size() || !column.word(row.cells[c])) return false;
  }
  return !text.empty();
}

bool holds_few_whole_numbers(const MeasuredText& text, std::size_t c) {
  std::set<std::string> values;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (c >= row.cells.size() || row.cells[c].empty()) return false;
    if (row.cells[c].find_first_not_of("0123456789") != std::string::npos) return false;
    values.insert(row.cells[c]);
    if (4 * values.size() > text.size()) return false;
  }
  return !values.empty();
}

void refuse_table_of_places(const MeasuredText& text) {
  const auto& names = text.header.cells;
  const auto count = [&](bool (*is)(const std::string&)) { return std::count_if(names.begin(), names.end(), is); };
  constexpr const char* advice = "a matrix has a line for each row of the array, and a number for each column";
  if (names.size() > 2 && count(names_row) == 1 && count(names_column) == 1) {
    csv_fail(text.place(text.header),
             fmt::format("the names \"{}\" are of a table of places and values: {}", fmt::join(names, ", "), advice));
  }
  if ((!names.empty() && names.size() != 3) || text.size() < 4) return;
  std::set<std::string> rows, columns, places;
  CsvRow row;
  for (std::size_t i = 0; i < text.size(); ++i) {
    text.row(i, row);
    if (row.cells.size() != 3) return;
    for (const std::size_t c : {0, 1}) {
      if (row.cells[c].empty() || row.cells[c].find_first_not_of("0123456789") != std::string::npos) return;
    }
    rows.insert(row.cells[0]);
    columns.insert(row.cells[1]);
    places.insert(row.cells[0] + " " + row.cells[1]);
  }
  if (rows.size() < 2 || columns.size() < 2 || rows.size() * columns.size() != text.size()) return;
  if (places.size() != text.size()) return;
  csv_fail(text.place(text.line(0)),
           fmt::format("the first two columns count through {} rows and {} columns of an array: {}", rows.size(),
                       columns.size(), advice));
}

std::vector<std::size_t> device_columns(const MeasuredText& text, const DeviceSearch& at) {
  const auto has = [&](const char* letter) {
    return std::any_of(at.left.begin(), at.left.end(),
                       [&](std::size_t c) { return device_stem(text.header.cells[c]) == letter; });
  };
  const bool rc = has("r") && has("c"), ij = has("i") && has("j");  // letters tell in pairs
  const auto is_of_pair = [&](const std::string& stem) {
    return (rc && (stem == "r" || stem == "c")) || (ij && (stem == "i" || stem == "j"));
  };
  std::vector<std::size_t> out;
  for (const std::size_t c : at.left) {
    const std::string& name = text.header.cells[c];
    if (!tells_devices(name) && !is_of_pair(device_stem(name))) continue;
    const ColumnSigns signs = signs_of(text, c, at);
    if (std::all_of(signs.values.begin(), signs.values.end(), is_long_direction)) continue;
    if (signs.varies() && !signs.counts_rows() && !signs.follows_order) out.push_back(c);
  }
  return out;
}

namespace {

/// Refuses a column of devices by its name, where one device of the column taken has two of its values.
void refuse_split(const MeasuredText& text, const DeviceSearch& at, std::size_t c) {
  const ColumnSigns counter = signs_of(text, c, at);
  if (counter.counts_rows() || counter.follows_order) return;
  std::string first;
  const auto row = split_of(text, at.device, c, first);
  if (!row) return;
  const std::string &name = text.header.cells[c], &own = text.header.cells[at.device];
  csv_fail(text.place(*row),
           fmt::format("\"{}\" of column {} is of {} \"{}\" here and of \"{}\" above. Give every device a name of "
                       "its own in one column, or take both: --columns \"{}={}+{}\". \"aside={}\" leaves {} aside",
                       row->cells[at.device], own, name, row->cells[c], first, at.device_key, own, name, name, name));
}

/// Refuses columns whose values change where records begin: they may name devices, or cycles.
void ask_for_devices(const MeasuredText& text, const DeviceSearch& at, const std::vector<std::size_t>& columns,
                     bool returns, int line) {
  if (columns.empty()) return;
  std::vector<std::string> names, aside;
  for (const std::size_t c : columns) {
    names.push_back(text.header.cells[c]);
    aside.push_back("aside=" + names.back());
  }
  const std::string all = fmt::format("{}", fmt::join(names, "+"));
  const std::string own = at.device != FoundColumns::absent ? text.header.cells[at.device] + "+" : "";
  const bool cycle = at.cycle == FoundColumns::absent && at.order_name != "cycle" && !returns &&
                     at.device_key == "device" && names.size() == 1;
  csv_fail(
      fmt::format("{}:{}", text.file, line),
      fmt::format("{} begins anew where column \"{}\" changes: does it name devices{}? Say --columns \"{}={}{}\"{} "
                  "or \"{}\"",
                  at.unordered ? "a sweep" : at.order_name, fmt::join(names, "\" or \""), cycle ? ", or cycles" : "",
                  at.device_key, own, all, cycle ? fmt::format(", \"cycle={}\"", all) : "", fmt::join(aside, ",")));
}

}  // namespace

void check_devices(const MeasuredText& text, const DeviceSearch& at, std::vector<std::string>& notes) {
  constexpr std::size_t least_block = 5;  // rows
  const bool named = at.device != FoundColumns::absent;
  const std::string own = named ? text.header.cells[at.device] + "+" : "";
  std::vector<std::size_t> asked;
  bool returns = false;
  int line = 0;
  for (const std::size_t c : at.left) {
    const std::string& name = text.header.cells[c];
    std::string first;
    if (named && !text.tells_tables(c) && tells_devices(name)) {
      refuse_split(text, at, c);
      continue;
    }
    const ColumnSigns signs = signs_of(text, c, at);
    const bool few = signs.varies() && 4 * signs.values.size() <= signs.rows;
    if (!few || are_directions(signs.values)) continue;
    if (named && !split_of(text, at.device, c, first)) {
      if (!named_unit(name).unit.empty()) {
        notes.push_back(fmt::format("column {} differs between devices: one population holds them all", name));
      }
      continue;
    }
    if (signs.follows_cycle && text.tells_tables(c)) continue;
    if (signs.follows_cycle) {
      notes.push_back(fmt::format("column {} changes with {}: if it names devices, say --columns \"{}={}{}\"", name,
                                  text.header.cells[at.cycle], at.device_key, own, name));
      continue;
    }
    // Sweeps have no order: a column of few values that never come back parts them.
    const bool parts = at.unordered && (text.tells_tables(c) || !signs.returns);
    if (parts || (signs.restarts > 0 && signs.restarts >= signs.changes)) {
      if (asked.empty()) line = signs.line;
      line = std::min(line, signs.line);
      returns = returns || signs.returns;
      asked.push_back(c);
    } else if (!signs.returns && !signs.dates && signs.rows >= least_block * signs.values.size()) {
      notes.push_back(
          fmt::format("column {} changes {} times within records: if it names devices, say --columns "
                      "\"{}={}{}\"",
                      name, signs.changes, at.device_key, own, name));
    }
  }
  ask_for_devices(text, at, asked, returns, line);
}

}  // namespace nudge
