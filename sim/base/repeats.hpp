// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace nudge {

/// Places of a value and of the first one that it repeats.
struct Repeat {
  std::size_t first, again;
};

/// The first value of a list that stands before it already, by the order <; nothing: every value stands once. What a study runs is
/// listed once: the same run twice is no second, independent one.
template <class T>
std::optional<Repeat> first_repeat(const std::vector<T>& values) {
  std::map<T, std::size_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [at, is_new] = seen.emplace(values[i], i);
    if (!is_new) return Repeat{at->second, i};
  }
  return std::nullopt;
}

}  // namespace nudge
