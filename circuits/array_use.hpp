// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/read_class.hpp"

namespace nudge {

/// How often each array was read, in rows of a drive: what an array does in a slot. It carries one vector one way at a time, so that an
/// evaluation that reads it k times a row (either direction, the means of several reads, corrections, the patches of a convolution) takes
/// k slots; arrays work side by side, and the busiest sets the pace (docs/crossbars.md, "What an array does in a slot").
class ArrayUse {
 public:
  void read(std::uint32_t array, ReadClass kind, double rows) { rows_[array][static_cast<std::size_t>(kind)] += rows; }
  void clear() {
    for (auto& [array, of] : rows_) of = {};
  }

  /// Slots that one of so many evaluations of `rows` rows took: at least 1.
  double slots(ReadClass kind, double evaluations, double rows) const {
    double busiest = 0;
    for (const auto& [array, of] : rows_) busiest = std::max(busiest, of[static_cast<std::size_t>(kind)]);
    return evaluations > 0 ? std::max(1.0, busiest / (evaluations * rows)) : 1.0;
  }

 private:
  std::unordered_map<std::uint32_t, std::array<double, read_classes>> rows_;
};

}  // namespace nudge
