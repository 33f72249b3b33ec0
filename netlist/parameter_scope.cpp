// SPDX-License-Identifier: Apache-2.0
#include "netlist/parameter_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numbers>

#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

/// Limit on parameters that ask for parameters, and on functions that call functions: each is a frame on the stack.
constexpr std::size_t kDeepestParameter = 64;
/// Limit on the calls of one expression: functions that call each other twice would take 2⁶⁴.
constexpr int kMostCalls = 100000;

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// Names that are asked for: one more as long as it lives.
struct Asked {
  Asked(std::vector<std::string>& names, const std::string& name) : names_(names) { names_.push_back(name); }
  ~Asked() { names_.pop_back(); }
  std::vector<std::string>& names_;
};

/// A count that is one more as long as it lives.
struct Deeper {
  explicit Deeper(int& count) : count_(++count) {}
  ~Deeper() { --count_; }
  int& count_;
};

}  // namespace

ParameterFunction read_function(const Card& card) {
  const char* form = ".func name(argument, …) {expression}";
  const Place& place = card[std::min<std::size_t>(1, card.size() - 1)].place;
  const auto refuse_form = [&] { refuse(place, fmt::format("{} is expected here", form)); };
  const Word all = joined_words(card, 1, card.size());
  const std::size_t open = all.text.find('('), close = all.text.find(')');
  if (open == std::string::npos || close == std::string::npos || close < open) refuse_form();
  ParameterFunction made{trimmed_blanks(all.text.substr(0, open)), {}, all};
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(all.text.find(',', at), close);
    made.arguments.push_back(trimmed_blanks(all.text.substr(at, end - at)));
    at = end + 1;
  }
  if (!is_name(made.name) || !std::all_of(made.arguments.begin(), made.arguments.end(), is_name)) refuse_form();
  std::size_t body = all.text.find_first_not_of(' ', close + 1);
  if (body != std::string::npos && all.text[body] == '=') body = all.text.find_first_not_of(' ', body + 1);
  if (body == std::string::npos) refuse_form();
  made.body.text = all.text.substr(body);
  made.body.place.column += static_cast<int>(body);
  return made;
}

bool ParameterScope::define(const Assignment& parameter) {
  const std::string& name = parameter.name.text;
  if (values_.count(name) > 0) return false;
  return !pending_.insert_or_assign(name, parameter.value).second;
}

void ParameterScope::define(ParameterFunction function) {
  const std::string name = function.name;
  functions_.insert_or_assign(name, std::move(function));
}

bool ParameterScope::has(const std::string& name) const {
  return values_.count(name) > 0 || pending_.count(name) > 0 || (caller_ != nullptr && caller_->has(name));
}

std::vector<std::string> ParameterScope::names() const {
  std::vector<std::string> all;
  for (const ParameterScope* scope = this; scope != nullptr; scope = scope->caller_) {
    for (const auto& [name, value] : scope->values_) all.push_back(name);
    for (const auto& [name, value] : scope->pending_) all.push_back(name);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

double ParameterScope::value(const std::string& name, const Place& place) {
  if (const auto known = values_.find(name); known != values_.end()) return known->second;
  const auto pending = pending_.find(name);
  const bool itself = !asked_.empty() && asked_.back() == name;  // k={k+1} is one more than the caller's
  if (pending == pending_.end() || (itself && caller_ != nullptr)) {
    if (caller_ != nullptr) return caller_->value(name, place);
    const std::vector<std::string> known = names();
    refuse(place, known.empty() ? fmt::format("unknown parameter {}", name)
                                : fmt::format("unknown parameter {} ({})", name, did_you_mean(name, known)));
  }
  if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) {
    refuse(pending->second.place, fmt::format("parameter {} needs its own value", name));
  }
  if (asked_.size() >= kDeepestParameter) {
    refuse(place, fmt::format("parameters ask for parameters more than {} deep", kDeepestParameter));
  }
  const Asked asked(asked_, name);
  const double found = assigned(pending->second);
  values_[name] = found;
  return found;
}

double ParameterScope::number(const Word& word) {
  if (word.expression) return assigned(word);
  double value = 0;
  std::size_t used = 0;
  if (read_spice_number(word.text, 0, value, used) && used == word.text.size()) return value;
  if (is_name(word.text) && has(word.text)) return assigned(word);
  refuse(word.place, fmt::format("\"{}\" is not a number (an expression or a parameter stands in {{}})", word.raw));
}

double ParameterScope::assigned(const Word& word) {
  return evaluated(word, [this](const std::string& name, const Place& place) { return value(name, place); }).value;
}

double ParameterScope::argument(const Word& word) {
  const char first = word.text.empty() ? ' ' : word.text.front();
  return !word.expression && std::isdigit(static_cast<unsigned char>(first)) != 0 ? number(word) : assigned(word);
}

bool ParameterScope::lacks(const Word& value, const std::vector<std::string>& names) const {
  const std::string& text = value.text;
  const auto of_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && of_name(text[end])) ++end;
    const std::string name = text.substr(begin, end - begin);
    if (std::find(names.begin(), names.end(), name) != names.end() && !has(name)) return true;
    begin = std::max(end, begin + 1);
  }
  return false;
}

Operand ParameterScope::built(const Word& word, FormulaBuilder& builder) {
  const LookUp look_up = [this](const std::string& name, const Place& place) -> Operand {
    if (name == "pi" && !has(name)) return std::numbers::pi;
    return value(name, place);
  };
  return evaluated(word, look_up, &builder);
}

double ParameterScope::assigned_within(const Word& word, const std::string& own, ParameterScope& inner) {
  return evaluated(word, [&](const std::string& name,
                             const Place& place) { return (name == own ? *this : inner).value(name, place); })
      .value;
}

Operand ParameterScope::evaluated(const Word& word, const LookUp& look_up, FormulaBuilder* builder) {
  const UserFunction user = [&](const FunctionUse& use, Operand& value) { return call(this, use, builder, value); };
  return evaluate_expression(word.text, word.place, look_up, user, builder);
}

/// Calls the function of that name which is nearest around `from`; false: there is none.
bool ParameterScope::call(const ParameterScope* from, const FunctionUse& use, FormulaBuilder* builder, Operand& value) {
  while (from != nullptr && from->functions_.count(use.name) == 0) from = from->around_;
  if (from == nullptr) return false;
  const ParameterFunction& function = from->functions_.at(use.name);
  if (use.values.size() != function.arguments.size()) {
    refuse(use.place, argument_count_text(use.name, function.arguments.size(), use.values.size()));
  }
  if (depth_ == 0) calls_ = 0;
  if (++calls_ > kMostCalls || depth_ >= static_cast<int>(kDeepestParameter)) {
    refuse(use.place,
           fmt::format("{}(): functions call functions more than {} deep or {} times (does one call itself?)", use.name,
                       kDeepestParameter, kMostCalls));
  }
  const Deeper deeper(depth_);
  const LookUp look_up = [&](const std::string& name, const Place& place) -> Operand {
    const auto found = std::find(function.arguments.begin(), function.arguments.end(), name);
    if (found == function.arguments.end()) return this->value(name, place);
    return use.values[static_cast<std::size_t>(found - function.arguments.begin())];
  };
  const UserFunction user = [&](const FunctionUse& inner, Operand& result) {
    return call(from, inner, builder, result);
  };
  value = evaluate_expression(function.body.text, function.body.place, look_up, user, builder);
  return true;
}

}  // namespace nudge
