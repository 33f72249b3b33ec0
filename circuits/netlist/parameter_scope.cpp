// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/card_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/suggest.hpp"

namespace nudge {
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
