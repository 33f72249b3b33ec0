// SPDX-License-Identifier: Apache-2.0
#include "netlist/card_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

/// Words of one physical line. `open` keeps blanks, commas and parentheses of expressions without marks: only blanks and = separate.
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
      } else if (c == '=') {
        card.push_back({"=", "=", place_});
        ++at_;
      } else {
        card.push_back(plain());
      }
      if (card.size() == 1) open_ = card.front().text == ".param";
    }
  }

 private:
  bool separates(char c) const { return blank(c) || (!open_ && (c == ',' || c == '(' || c == ')')); }

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
    while (at_ < line_.size() && !separates(line_[at_]) && line_[at_] != '=' && line_[at_] != ';' &&
           line_[at_] != '{' && line_[at_] != '\'') {
      ++at_;
    }
    return word_of(line_.substr(begin, at_ - begin), false);
  }

  Word word_of(const std::string& text, bool expression) const { return {lower(text), text, place_, expression}; }

  const std::string& line_;
  Place place_;
  std::size_t at_ = 0;
  bool open_ = false;
};

class Reader {
 public:
  explicit Reader(const ReadInclude& include) : include_(include) {}

  void read(const std::string& name, const std::string& text, int depth) {
    bytes_ += text.size();
    const auto file = std::make_shared<const std::string>(name);
    std::size_t begin = 0;
    for (int line = 1; begin < text.size() && !ended_; ++line) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      take(text.substr(begin, end - begin), {file, line, 1}, depth);
      begin = end + 1;
    }
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
      LineWords(line, place).append_to(card_, first + 1, card_.front().text == ".param");
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
      control_ = word != ".endc";
    } else if (word == ".end") {
      ended_ = true;
    } else if (word == ".include" || word == ".inc") {
      read_included(card, depth);
    } else if (word == ".title") {
      list.title.clear();
      for (std::size_t i = 1; i < card.size(); ++i) list.title += (i > 1 ? " " : "") + card[i].raw;
    } else {
      list.cards.push_back(std::move(card));
    }
  }

  void read_included(const Card& card, int depth) {
    if (card.size() != 2) refuse(card.front().place, ".include takes one file name (quote it where it has blanks)");
    const Word& name = card[1];
    if (depth >= kIncludeDepth) {
      refuse(name.place, fmt::format("files include each other more than {} deep", kIncludeDepth));
    }
    std::string path;
    const std::string text = include_(name.raw, *name.place.file, path);
    if (bytes_ + text.size() > kLargestNetlist) refuse(name.place, "all files together exceed 256 MiB");
    read(path, text, depth + 1);
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

namespace {

/// Limit on parameters that ask for parameters: each is a frame on the stack.
constexpr std::size_t kDeepestParameter = 64;

}  // namespace

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

void ParameterScope::define(const Assignment& parameter) {
  const std::string& name = parameter.name.text;
  if (values_.count(name) > 0) return;
  if (!pending_.emplace(name, parameter.value).second) {
    refuse(parameter.name.place, fmt::format("parameter {} is defined twice", name));
  }
}

std::vector<std::string> ParameterScope::names() const {
  std::vector<std::string> all;
  for (const ParameterScope* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const auto& [name, value] : scope->values_) all.push_back(name);
    for (const auto& [name, value] : scope->pending_) all.push_back(name);
  }
  return all;
}

double ParameterScope::value(const std::string& name, const Place& place) {
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  const auto pending = pending_.find(name);
  if (pending == pending_.end()) {
    if (parent_ != nullptr) return parent_->value(name, place);
    refuse(place, fmt::format("unknown parameter {} ({})", name, did_you_mean(name, names())));
  }
  if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) {
    refuse(pending->second.place, fmt::format("parameter {} needs its own value", name));
  }
  if (asked_.size() >= kDeepestParameter) {
    refuse(place, fmt::format("parameters ask for parameters more than {} deep", kDeepestParameter));
  }
  asked_.push_back(name);
  const double found = assigned(pending->second);
  asked_.pop_back();
  values_[name] = found;
  return found;
}

double ParameterScope::number(const Word& word) {
  if (word.expression) return assigned(word);
  double value = 0;
  std::size_t used = 0;
  if (read_spice_number(word.text, 0, value, used) && used == word.text.size()) return value;
  refuse(word.place, fmt::format("\"{}\" is not a number (an expression or a parameter stands in {{}})", word.raw));
}

double ParameterScope::assigned(const Word& word) {
  return evaluate_expression(word.text, word.place,
                             [this](const std::string& name, const Place& place) { return value(name, place); });
}

}  // namespace nudge
