// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/linear_map.hpp"

namespace nudge {

/// The state of a map as it is now, to put it back bit by bit after it was moved.
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

}  // namespace nudge
