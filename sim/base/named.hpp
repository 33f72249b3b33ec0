// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "sim/base/errors.hpp"

namespace nudge {

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
