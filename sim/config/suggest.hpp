// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"

namespace nudge {

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string alignment
/// distance: Damerau, Commun. ACM 7:171, 1964), ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to a misspelt name (the first of equals); empty when none is within a third of its length.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

/// Hint for an unknown name: "did you mean X?", or "known: a, b, c". The beginning of a family's names gives "did you
/// mean one of X_a, X_b?".
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// The values of an enumeration by the names that a config gives them, in the order of help. The row of a key and whoever reads
/// it share one list, so that neither can know a name that the other does not.
template <class E>
class Choices {
 public:
  Choices(std::initializer_list<std::pair<const char*, E>> values) {
    for (const auto& [name, value] : values) values_.emplace_back(name, value);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    all.reserve(values_.size());
    for (const auto& one : values_) all.push_back(one.first);
    return all;
  }

  /// The value of a key whose row has these names.
  E of(const Config& config, const std::string& key) const {
    const std::string& name = config.text(key);
    for (const auto& [known, value] : values_) {
      if (name == known) return value;
    }
    throw ContractViolation(key + ": the row allows \"" + name + "\", which no value has");
  }

  const std::string& name_of(E value) const {
    for (const auto& one : values_) {
      if (one.second == value) return one.first;
    }
    throw ContractViolation("a value without a name");
  }

 private:
  std::vector<std::pair<std::string, E>> values_;
};

}  // namespace nudge
