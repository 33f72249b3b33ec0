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

/// List of things with a `name` that a config or a command line chooses from. It holds nudge's own things, and those that a
/// program adds at the start of main() (examples/out_of_tree). From its first use on the list is fixed, because keys, help
/// and messages have been made from it. Not safe for threads.
template <class T>
class OpenList {
 public:
  explicit OpenList(std::vector<T> own) : list_(std::move(own)) {}

  /// Adds an item. Throws std::logic_error if its name is taken or the list is in use.
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

/// Place of the item with this `name` in a list that must have one. ContractViolation in every build if none has it.
template <class Items>
std::size_t place_named(const Items& items, std::string_view name) {
  const auto at = std::find_if(std::begin(items), std::end(items), [&](const auto& one) { return one.name == name; });
  if (at == std::end(items)) throw ContractViolation("nothing here is named \"" + std::string(name) + "\"");
  return static_cast<std::size_t>(at - std::begin(items));
}

/// The item with this `name`; ContractViolation in every build if none has it.
template <class Items>
const auto& named(const Items& items, std::string_view name) {
  return *std::next(std::begin(items), static_cast<std::ptrdiff_t>(place_named(items, name)));
}

}  // namespace nudge
