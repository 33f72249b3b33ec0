// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "circuits/linear_map.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

/// Copy of the present state of a map, to put it back bit by bit after it was moved.
template <class S>
class KeptState {
 public:
  explicit KeptState(LinearMap<S>& map) : map_(&map) {
    for (const StateArray<S>& array : map.state()) values_.push_back(*array.values);
  }

  void restore() {
    const std::vector<StateArray<S>> arrays = map_->state();
    NUDGE_EXPECT(arrays.size() == values_.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) *arrays[i].values = values_[i];
    map_->state_restored();
  }

 private:
  LinearMap<S>* map_;
  std::vector<Matrix<S>> values_;
};

/// Whole number in [0, below) that a checkpoint keeps as a real. UserError for any other number: the file is damaged.
inline std::uint64_t restored_count(double value, double below, const char* what) {
  if (!(value >= 0 && value < below) || value != std::floor(value)) {
    throw UserError(
        fmt::format("{}: restored as {}, not a whole number in [0, {}): the file is damaged", what, value, below));
  }
  return static_cast<std::uint64_t>(value);
}

}  // namespace nudge
