// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "circuits/netlist/card_reader.hpp"

namespace nudge {

/// Limit on the elements of a netlist, instances of .subckt counted as elements, and the key by which a user raises it.
struct NetlistLimit {
  /// Standard limit: a netlist of 10⁶ resistors and its equations take 1.0 GB, names and matrix included (measured), which
  /// every machine has. The largest circuits of the benchmarks have 10⁵ nodes (bench/netlist_points.cpp).
  static constexpr std::size_t standard = 1000000;

  std::size_t elements = standard;
  std::string key = "NetlistLimit::elements";  ///< key or option that a message names
};

/// Number of the word NAME in an instance "Xname nodes NAME [params:] [name=value …]"; 0: it has none.
std::size_t instance_name(const Card& card);

/// Function that gives the cards of a .subckt; null: there is none of this name.
using SubcktCards = std::function<const std::vector<Card>*(const std::string& name)>;

/// Counts the elements that cards stand for once every instance is taken apart. It counts before anything is made, because .subckt that
/// use each other grow with the power of their depth. UserError with the place of the instance that exceeds the limit, the count and
/// advice; also for instances that are more than 32 deep, or within themselves. Instances of an unknown .subckt count as one element.
void check_netlist_size(const std::vector<Card>& top, const SubcktCards& subckt, const NetlistLimit& limit);

/// Throws the UserError of one element too many at a place.
[[noreturn]] void refuse_netlist_size(const Place& place, const std::string& what, double count,
                                      const NetlistLimit& limit);

}  // namespace nudge
