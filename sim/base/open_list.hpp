// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/errors.hpp"

namespace nudge {

/// Things with a `name` that a config or a command line chooses from: ours, and what a program adds before it begins
/// (examples/out_of_tree). From its first use on the list is fixed: keys, help and messages have been made from it. Not for threads:
/// what is added is added at the start of main().
template <class T>
class OpenList {
 public:
  explicit OpenList(std::vector<T> own) : list_(std::move(own)) {}

  /// std::logic_error for a name that is there, and when the list is in use.
  void add(T more) {
    if (used_) throw std::logic_error("\"" + more.name + "\" is added after nudge has begun");
    for (const T& one : list_) {
      if (one.name == more.name) throw std::logic_error("\"" + more.name + "\" is there already");
    }
    list_.push_back(std::move(more));
  }

  const std::vector<T>& all() {
    used_ = true;
    return list_;
  }

 private:
  std::vector<T> list_;
  bool used_ = false;
};

/// Place of the item whose `name` this is, among items that must have one. ContractViolation in every build: none has it.
template <class Items>
std::size_t place_named(const Items& items, std::string_view name) {
  const auto at = std::find_if(std::begin(items), std::end(items), [&](const auto& one) { return one.name == name; });
  if (at == std::end(items)) throw ContractViolation("nothing here is named \"" + std::string(name) + "\"");
  return static_cast<std::size_t>(at - std::begin(items));
}

/// The item of this name itself; as place_named().
template <class Items>
const auto& named(const Items& items, std::string_view name) {
  return *std::next(std::begin(items), static_cast<std::ptrdiff_t>(place_named(items, name)));
}

}  // namespace nudge
