// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "sim/base/rng.hpp"
#include "training/data/generated_task.hpp"

namespace nudge {

/// The random numbers of one example, one after the other.
class Draws {
 public:
  Draws(std::uint64_t seed, Split split, std::uint64_t number)
      : key_{seed, Purpose::synthetic_data, split == Split::test ? 4U : 3U}, number_(number) {}

  /// Uniform in [0, n).
  int below(Index n) {
    return static_cast<int>(random_below(static_cast<std::uint64_t>(n), key_, number_, 0, index_++));
  }
  bool one_in(Index n) { return below(n) == 0; }

  /// `count` different numbers of [first, first + n), in random order.
  std::vector<int> different(Index count, int first, Index n) {
    std::vector<int> all;
    all.reserve(n);
    for (Index i = 0; i < n; ++i) all.push_back(first + static_cast<int>(i));
    for (Index i = 0; i < count; ++i) {
      std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(i + below(n - i))]);
    }
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

 private:
  RngKey key_;
  std::uint64_t number_;
  std::uint32_t index_ = 0;
};

}  // namespace nudge
