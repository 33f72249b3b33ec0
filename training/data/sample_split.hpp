// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Numbers of the samples of each part, in a random order within each.
struct SampleSplit {
  std::vector<Index> training, validation, test;
};

/// Splits n samples at random: a pure function of its arguments, with a seed of its own so that runs with other seeds see
/// the same parts. With labels (n of them, or none) the parts are stratified: a part takes of each class its share of that
/// class's samples to within one sample, and of all samples its share rounded to the nearest. Needs both fractions ≥ 0,
/// their sum < 1. A part may come out empty.
SampleSplit split_samples(Index n, std::span<const int> labels, double validation_fraction, double test_fraction,
                          std::uint64_t seed);

}  // namespace nudge
