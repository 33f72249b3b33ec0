// SPDX-License-Identifier: Apache-2.0
#include "netlist/card_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/base/text.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {

std::string to_string(const Place& place) {
  return fmt::format("{}:{}:{}", place.file ? *place.file : "netlist", place.line, place.column);
}

void refuse(const Place& place, const std::string& what) {
  throw UserError(fmt::format("{}: {}", printable_line(to_string(place)), printable_line(what)));
}

namespace {

constexpr int kIncludeDepth = 16;
constexpr std::size_t kLargestNetlist = std::size_t{256} << 20U;  // bytes of all files together

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// True for cards whose values are expressions without marks, with commas, parentheses and comparisons of their own.
bool is_open(const std::string& word) {
  return word == ".param" || word == ".func" || word == ".if" || word == ".elseif" || word.front() == 'b';
}

/// Words of one physical line. `open` keeps commas and parentheses of expressions without marks: only blanks and = separate.
class LineWords {
 public:
  LineWords(const std::string& line, Place place) : line_(line), place_(std::move(place)) {}

  void append_to(Card& card, std::size_t from, bool open) {
    at_ = from;
    open_ = open;
    while (skip_separators()) {
      place_.column = static_cast<int>(at_) + 1;
      const char c = line_[at_];
      if (c == '{' || c == '\'') {
        card.push_back(marked(c == '{' ? '}' : '\''));
      } else if (c == '"') {
        card.push_back(quoted());
      } else if (c == '=' && !compares(at_)) {
        card.push_back({"=", "=", place_});
        ++at_;
      } else {
        card.push_back(plain());
      }
      if (card.size() == 1) open_ = is_open(card.front().text);
    }
  }

 private:
  bool separates(char c) const { return blank(c) || (!open_ && (c == ',' || c == '(' || c == ')')); }

  /// True if the = at a place is part of == <= >= or !=.
  bool compares(std::size_t at) const {
    const bool before = at > 0 && std::string("=<>!").find(line_[at - 1]) != std::string::npos;
    return open_ && (before || (at + 1 < line_.size() && line_[at + 1] == '='));
  }

  /// True if the ( at a place belongs to a name that has begun before it, "Net-(R5-Pad1)".
  bool of_name(std::size_t begin, std::size_t at) const {
    return line_[at] == '(' && at > begin + 1 && line_[at - 1] == '-' && line_.find(')', at) != std::string::npos;
  }

  bool comments(std::size_t at) const {
    const char c = line_[at];
    if (c == ';') return true;
    if (at > 0 && !separates(line_[at - 1])) return false;
    if (c == '/') return at + 1 < line_.size() && line_[at + 1] == '/';
    return c == '$' && (at + 1 == line_.size() || blank(line_[at + 1]));
  }

  bool skip_separators() {
    while (at_ < line_.size() && separates(line_[at_])) ++at_;
    return at_ < line_.size() && !comments(at_);
  }

  Word marked(char end) {
    int depth = 1;
    std::size_t close = at_ + 1;
    for (; close < line_.size(); ++close) {
      if (line_[close] == end && --depth == 0) break;
      if (end == '}' && line_[close] == '{') ++depth;
    }
    if (close == line_.size()) refuse(place_, fmt::format("the expression is not closed (a {} is missing)", end));
    Word word = word_of(line_.substr(at_ + 1, close - at_ - 1), true);
    ++word.place.column;  // behind the mark
    at_ = close + 1;
    return word;
  }

  Word quoted() {
    const std::size_t close = line_.find('"', at_ + 1);
    if (close == std::string::npos) refuse(place_, "the name is not closed (a \" is missing)");
    Word word = word_of(line_.substr(at_ + 1, close - at_ - 1), false);
    at_ = close + 1;
    return word;
  }

  Word plain() {
    const std::size_t begin = at_;
    const auto goes_on = [&] {
      const char c = line_[at_];
      return !separates(c) && (c != '=' || compares(at_)) && c != ';' && c != '{' && c != '\'';
    };
    while (at_ < line_.size() && (goes_on() || of_name(begin, at_)))
      at_ = of_name(begin, at_) ? line_.find(')', at_) + 1 : at_ + 1;
    return word_of(line_.substr(begin, at_ - begin), false);
  }

  Word word_of(const std::string& text, bool expression) const { return {lower(text), text, place_, expression}; }

  const std::string& line_;
  Place place_;
  std::size_t at_ = 0;
  bool open_ = false;
};

template <class Act>
void for_each_line(const std::string& text, const Act& act) {
  std::size_t begin = 0;
  for (int line = 1; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    act(text.substr(begin, end - begin), line);
    begin = end + 1;
  }
}

/// Lines of a library from ".lib SECTION" to ".endl", or those outside of all sections if none is wanted; the others are empty, so that
/// places stay. `sections`: names of all that the text has.
std::string library_lines(const std::string& text, const std::string& wanted, std::set<std::string>& sections) {
  std::string kept, inside;
  bool within = false, ends = false;
  for_each_line(text, [&](const std::string& line, int) {
    Card card;
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool library = first != std::string::npos &&
                         (lower(line.substr(first, 4)) == ".lib" || lower(line.substr(first, 5)) == ".endl");
    if (library) LineWords(line, {}).append_to(card, first, false);
    if (!card.empty() && card.front().text == ".endl") {
      within = false;
      ends = true;
    } else if (card.size() == 2 && card.front().text == ".lib" && !within) {
      within = true;
      inside = card[1].text;
      sections.insert(inside);
    } else if (wanted.empty() ? !within : within && inside == wanted) {
      kept += line;
    }
    kept += '\n';
  });
  if (!ends) sections.clear();  // .lib FILE of LTspice
  return kept;
}

class Reader {
 public:
  explicit Reader(const ReadInclude& include) : include_(include) {}

  void read(const std::string& name, const std::string& text, int depth) {
    bytes_ += text.size();
    const auto file = std::make_shared<const std::string>(name);
    for_each_line(text, [&](const std::string& line, int number) {
      if (!ended_) take(line, {file, number, 1}, depth);
    });
    if (depth == 0) finish_card(depth);
  }

  CardList list;

 private:
  void take(const std::string& line, const Place& place, int depth) {
    if (depth == 0 && place.line == 1) {
      const std::size_t end = line.find_last_not_of("\r");
      list.title = end == std::string::npos ? "" : line.substr(0, end + 1);
      return;
    }
    const std::size_t first = line.find_first_not_of(" \t\r\f\v");
    if (first == std::string::npos || line[first] == '*') return;
    Place at = place;
    at.column = static_cast<int>(first) + 1;
    if (line[first] == '+' && !control_) {
      if (card_.empty()) refuse(at, "a continuation + must follow a card");
      LineWords(line, place).append_to(card_, first + 1, is_open(card_.front().text));
      return;
    }
    finish_card(depth);
    if (ended_) return;
    LineWords(line, place).append_to(card_, first, false);
    if (card_.empty()) return;
    // These act at once: what follows may not be a card.
    const std::string& word = card_.front().text;
    if (word == ".control" || word == ".endc" || word == ".end" || control_) finish_card(depth);
  }

  void finish_card(int depth) {
    if (card_.empty()) return;
    Card card = std::move(card_);
    card_.clear();
    const std::string& word = card.front().text;
    if (control_ || word == ".control") {
      if (!control_) list.left_aside.emplace_back(".control");
      control_ = word != ".endc";
    } else if (word == ".end") {
      ended_ = true;
    } else if (word == ".include" || word == ".inc") {
      if (card.size() != 2) refuse(card.front().place, ".include takes one file name (quote it where it has blanks)");
      read_included(card[1], "", depth);
    } else if (word == ".lib") {
      if (card.size() < 2 || card.size() > 3)
        refuse(card.front().place, ".lib takes a file name and a section (quote a name that has blanks)");
      read_library(card, depth);
    } else if (word == ".endl") {
      refuse(card.front().place, ".endl without .lib");
    } else if (word == ".title") {
      list.title.clear();
      for (std::size_t i = 1; i < card.size(); ++i) list.title += (i > 1 ? " " : "") + card[i].raw;
    } else {
      list.cards.push_back(std::move(card));
    }
  }

  /// .lib FILE SECTION, and .lib FILE of LTspice and PSpice: its models, should any be needed.
  void read_library(const Card& card, int depth) {
    if (card.size() == 3) return read_included(card[1], card[2].text, depth);
    try {
      std::string path;
      static_cast<void>(include_(card[1].raw, *card[1].place.file, path));
    } catch (const UserError&) {
      list.left_aside.push_back(fmt::format(".lib {} (no such file)", card[1].raw));
      return;
    }
    read_included(card[1], "", depth);
  }

  void read_included(const Word& name, const std::string& section, int depth) {
    if (depth >= kIncludeDepth) {
      refuse(name.place, fmt::format("files include each other more than {} deep", kIncludeDepth));
    }
    std::string path;
    const std::string text = include_(name.raw, *name.place.file, path);
    if (bytes_ + text.size() > kLargestNetlist) refuse(name.place, "all files together exceed 256 MiB");
    std::set<std::string> sections;
    const std::string lines = library_lines(text, section, sections);
    if (!section.empty() && sections.count(section) == 0) {
      refuse(
          name.place,
          fmt::format("{} has no section {}{}", name.raw, section,
                      sections.empty() ? "" : " (" + did_you_mean(section, {sections.begin(), sections.end()}) + ")"));
    }
    read(path, sections.empty() ? text : lines, depth + 1);
    finish_card(depth + 1);
    ended_ = false;  // an .end of the file ends the file
  }

  const ReadInclude& include_;
  Card card_;
  std::size_t bytes_ = 0;
  bool ended_ = false, control_ = false;
};

}  // namespace

CardList read_cards(const std::string& name, const std::string& text, const ReadInclude& include) {
  Reader reader(include);
  reader.read(name, text, 0);
  return std::move(reader.list);
}

std::string trimmed_blanks(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Word joined_words(const Card& card, std::size_t first, std::size_t end) {
  Word all{"", "", card[std::min(first, card.size() - 1)].place, true};
  for (std::size_t i = first; i < end; ++i) {
    const char *open = card[i].expression ? "(" : "", *close = card[i].expression ? ")" : "";
    const char* blank = i > first ? " " : "";
    all.text += fmt::format("{}{}{}{}", blank, open, card[i].text, close);
    all.raw += fmt::format("{}{}{}{}", blank, open, card[i].raw, close);
  }
  return all;
}

bool same_words(const Card& a, const Card& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Word& v, const Word& w) { return v.text == w.text && v.expression == w.expression; });
}

std::vector<Assignment> open_assignments(const Card& card, std::size_t first) {
  std::vector<Assignment> found;
  for (std::size_t i = first; i < card.size();) {
    if (card[i].text == "=" || !assigns(card, i) || i + 2 >= card.size()) {
      refuse(card[i].place, fmt::format("\"{}\": name = value is expected here", card[i].raw));
    }
    std::size_t end = i + 3;
    while (end < card.size() && !assigns(card, end)) ++end;
    Word value = end == i + 3 ? card[i + 2] : joined_words(card, i + 2, end);
    if (value.text == "=") refuse(value.place, fmt::format("{}: its value is missing", card[i].raw));
    found.push_back({card[i], std::move(value)});
    i = end;
  }
  return found;
}

std::vector<Assignment> assignments(const Card& card, std::size_t first) {
  std::vector<Assignment> found;
  for (std::size_t i = first; i < card.size(); i += 3) {
    if (card[i].text == "=" || i + 2 >= card.size() || card[i + 1].text != "=" || card[i + 2].text == "=") {
      refuse(
          card[i].place,
          fmt::format("\"{}\": name = value is expected here (an expression with blanks stands in {{}})", card[i].raw));
    }
    found.push_back({card[i], card[i + 2]});
  }
  return found;
}

}  // namespace nudge
