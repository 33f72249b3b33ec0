// SPDX-License-Identifier: Apache-2.0
// What titles of tables and names of columns tell.
#include "devices/fit/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

#include "devices/fit/column_words.hpp"
#include "devices/fit/device_columns.hpp"

namespace nudge {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_count(const std::string& word) { return !word.empty() && std::all_of(word.begin(), word.end(), is_decimal); }

/// Word without the digits at its end, and the digits.
std::pair<std::string, std::string> apart(const std::string& word) {
  const std::size_t digits = word.find_last_not_of("0123456789") + 1;
  return {word.substr(0, digits), word.substr(digits)};
}

bool is_direction(const std::string& word) { return word.size() > 1 && direction_word(word).has_value(); }

bool counts_cycles(const std::string& word) {
  return !word.empty() && rank_of(word, {"cycle", Unit::none, false}).has_value();
}

/// Takes "cycle 2", "cycle no. 2", "cycle2" or "2nd cycle" out of words.
std::string take_cycle(std::vector<std::string>& words) {
  const auto take = [&](std::size_t from, std::size_t to, std::string number) {
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(from), words.begin() + static_cast<std::ptrdiff_t>(to));
    return number;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto [letters, digits] = apart(words[i]);
    if (!counts_cycles(letters)) continue;
    if (!digits.empty()) return take(i, i + 1, digits);
    std::size_t next = i + 1;
    constexpr std::array numbering = {"no", "nr", "number", "num"};
    const auto numbers = [&](const char* one) { return next < words.size() && boost::iequals(words[next], one); };
    if (std::any_of(numbering.begin(), numbering.end(), numbers)) ++next;
    if (next < words.size() && is_count(words[next])) return take(i, next + 1, words[next]);
    const std::string before = i == 0 ? "" : words[i - 1];
    const std::size_t end = before.find_first_not_of("0123456789");
    if (end > 0 && end != std::string::npos && end + 2 == before.size())
      return take(i - 1, i + 1, before.substr(0, end));
  }
  return "";
}

/// Place of the word for a direction among words, the first or the last; their number: there is none.
std::size_t way_place(const std::vector<std::string>& words, bool last) {
  if (last) {
    for (std::size_t i = words.size(); i > 0; --i) {
      if (is_direction(words[i - 1])) return i - 1;
    }
    return words.size();
  }
  return static_cast<std::size_t>(std::find_if(words.begin(), words.end(), is_direction) - words.begin());
}

}  // namespace

std::vector<std::string> label_words(const std::string& name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool point =
        name[i] == '.' && i > 0 && i + 1 < name.size() && is_decimal(name[i - 1]) && is_decimal(name[i + 1]);
    if (c > 127 || std::isalnum(c) != 0 || point) {
      words.back() += name[i];
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<Label> labels_of(const std::vector<std::vector<std::string>>& names) {
  const auto ways = [&](bool last) {  // directions that the first or the last words tell
    std::set<Direction> out;
    for (const auto& words : names) {
      if (const std::size_t at = way_place(words, last); at < words.size()) out.insert(*direction_word(words[at]));
    }
    return out;
  };
  const bool last = ways(true).size() > 1 || ways(false).size() < 2;
  const auto of_set = [&](const std::vector<std::string>& words) {
    const std::size_t at = way_place(words, last);
    return at == words.size() || boost::iequals(apart(words[at]).first, "set");
  };
  const bool none = std::all_of(names.begin(), names.end(), of_set);  // data sets as often
  std::vector<Label> out;
  for (std::vector<std::string> words : names) {
    Label own;
    own.cycle = take_cycle(words);
    if (const std::size_t at = none ? words.size() : way_place(words, last); at < words.size()) {
      own.direction = direction_word(words[at]);
      words[at] = apart(words[at]).second;
      if (words[at].empty()) words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (own.direction && own.cycle.empty() && words.size() == 1 && is_count(words[0]))
      own.cycle = words[0], words.clear();
    const auto binds = [](const std::string& word) {
      return boost::iequals(word, "of") || boost::iequals(word, "for");
    };
    if (!own.plain()) std::erase_if(words, binds);  // cycle 1 of Device 1
    own.device = boost::join(words, " ");
    out.push_back(own);
  }
  return out;
}

std::string device_word(const std::string& name) {
  std::vector<std::string> words = label_words(name);
  if (words.size() == 1) {  // D1, Cell3b
    const auto letter = [](char c) { return !is_decimal(c); };
    const auto digit = std::find_if_not(words[0].begin(), words[0].end(), letter);
    if (digit == words[0].begin() || digit == words[0].end()) return "";
    const std::string stem(words[0].begin(), digit), rest(digit, words[0].end());
    if (stem.size() == 1) return is_count(rest) ? stem : "";
    words = {stem, rest};
  }
  if (words.size() < 2) return "";
  std::string stem = boost::join(std::vector<std::string>(words.begin(), words.end() - 1), " ");
  const std::string& rest = words.back();
  const bool told = rest.size() == 1 || std::any_of(rest.begin(), rest.end(), is_decimal);
  return told && (boost::iequals(stem, "dev") || tells_devices(stem)) ? stem : "";
}

std::vector<bool> statistics_among(const std::vector<std::string>& names) {
  std::vector<bool> out;
  std::map<char, std::set<int>> shares;  // of q25, p75
  const auto share_of = [](const std::string& name) {
    const std::string word = word_of(named_unit(name).name);
    const bool share =
        word.size() > 1 && word.size() < 4 && (word[0] == 'q' || word[0] == 'p') && is_count(word.substr(1));
    return share ? std::pair{word[0], std::atoi(word.c_str() + 1)} : std::pair{'\0', 0};
  };
  for (const std::string& name : names) {
    const std::string own = named_unit(name).name;
    const std::vector<std::string> words = label_words(own);
    out.push_back(sums_up(own) || std::any_of(words.begin(), words.end(), [](const std::string& word) {
                    const std::string stem = apart(word).first;
                    return stem.size() > 1 && sums_up(stem);
                  }));
    if (const auto [letter, share] = share_of(name); letter != '\0') shares[letter].insert(share);
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto [letter, share] = share_of(names[k]);
    if (letter == '\0') continue;
    const std::set<int>& all = shares[letter];
    const bool quartiles = all == std::set<int>{1, 3};
    if (quartiles || std::all_of(all.begin(), all.end(), [&](int one) { return all.count(100 - one) > 0; }))
      out[k] = true;
  }
  return out;
}

namespace {

/// Unit of readings at the end of a title, "Device 1 (uS)", "Device 1, G in uS", which it then loses; empty: none.
std::string take_unit(std::string& title) {
  const NamedUnit own = named_unit(title);
  const bool apart_from_it = title.ends_with(')') || title.ends_with(']') || boost::contains(title, " in ");
  const auto is = [&](Unit of) { return read_quantity("1 " + own.unit, of).problem.empty(); };
  if (!apart_from_it || own.unit.empty() || !(is(Unit::siemens) || is(Unit::ohm) || is(Unit::ampere))) return "";
  title = own.name;
  const std::size_t word = title.find_last_of(" ,") + 1;
  for (const char* reading : {"conductance", "resistance", "current"}) {
    if (word == 0 || !rank_of(title.substr(word), {reading, Unit::none, false})) continue;
    title = boost::trim_right_copy_if(title.substr(0, word), boost::is_any_of(" ,:"));
    break;
  }
  return own.unit;
}

/// Text of titles, and their label. One that tells nothing but a device stays as it is written.
std::vector<Label> title_labels(const std::vector<std::vector<TableTitle>>& tables,
                                std::vector<std::pair<std::string, int>>& units) {
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> words;
  for (const std::vector<TableTitle>& table : tables) {
    std::vector<std::string> lines;
    for (const TableTitle& title : table) {
      lines.push_back(title.text);
      if (std::string unit = take_unit(lines.back()); !unit.empty()) units.emplace_back(std::move(unit), title.line);
    }
    texts.push_back(boost::join(lines, ", "));
    words.push_back(label_words(texts.back()));
  }
  std::vector<Label> labels = labels_of(words);
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (labels[k].plain()) labels[k].device = texts[k];
  }
  return labels;
}

/// Gives labels what they leave out: the device, and the cycle of a direction, of the table before.
void inherit(std::vector<Label>& labels) {
  const auto any = [&](auto has) { return std::any_of(labels.begin(), labels.end(), has); };
  const bool cycles = any([](const Label& one) { return !one.cycle.empty(); });
  for (std::size_t k = 1; k < labels.size(); ++k) {
    Label& own = labels[k];
    const Label& before = labels[k - 1];
    if (!own.device.empty() || own.plain()) continue;
    own.device = before.device;
    if (cycles && own.cycle.empty()) own.cycle = before.cycle;
  }
}

/// Numbers tables that no label tells apart.
std::vector<std::string> counts_of(const std::vector<Label>& labels) {
  std::map<std::pair<std::string, int>, int> seen;
  std::vector<std::string> out;
  bool twice = false;
  for (const Label& one : labels) {
    const int way = one.direction ? static_cast<int>(*one.direction) : -1;
    out.push_back(fmt::format("{}", ++seen[{one.cycle, way}]));
    twice = twice || out.back() != "1";
  }
  return twice ? out : std::vector<std::string>{};
}

}  // namespace

TitleLabels label_by_titles(MeasuredText& text, const std::vector<std::vector<TableTitle>>& tables, bool cycles) {
  TitleLabels out;
  std::vector<Label> labels = title_labels(tables, out.units);
  inherit(labels);
  const auto all = [&](auto is) { return std::all_of(labels.begin(), labels.end(), is); };
  const std::string word = device_word(labels[0].device);
  const bool told = (word.size() > 1 || boost::iequals(word, "d")) &&
                    all([&](const Label& one) { return boost::iequals(device_word(one.device), word); });
  for (Label& one : labels) {
    if (cycles || one.cycle.empty()) continue;  // else the cycle is of the device
    one.device += (one.device.empty() ? "cycle " : ", cycle ") + std::exchange(one.cycle, "");
  }
  std::vector<std::string> devices;
  if (all([&](const Label& one) { return one.device == labels[0].device; })) {
    devices = counts_of(labels);
  } else {
    for (std::size_t k = 0; k < labels.size(); ++k) {
      devices.push_back(labels[k].device.empty() ? fmt::format("{}", k + 1) : labels[k].device);
    }
  }
  if (!devices.empty()) {
    const std::size_t place = text.label_tables(told ? word : "tables", devices);
    if (told) out.columns.push_back({"device", place});
  }
  const auto add = [&](const char* meaning, auto cell) {
    std::vector<std::string> cells;
    for (const Label& one : labels) cells.push_back(cell(one));
    if (std::all_of(cells.begin(), cells.end(), [](const std::string& one) { return one.empty(); })) return;
    out.columns.push_back({meaning, text.label_tables(fmt::format("{}s of tables", meaning), cells)});
  };
  add("cycle", [](const Label& one) { return one.cycle; });
  add("direction", [](const Label& one) {
    return std::string(!one.direction ? "" : *one.direction == Direction::up ? "up" : "down");
  });
  return out;
}

}  // namespace nudge
