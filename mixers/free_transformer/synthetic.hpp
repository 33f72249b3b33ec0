// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Synthetic sequences of the Free Transformer (Fleuret 2025, "The Free Transformer", section 4.1): a letter, '>', then 64 characters
/// '_'. A target of 8 equal letters (the prompt's) stands among them at a uniform place 0..56. Each of the 64 is replaced by '!' with
/// probability 1/16. Places where the target would not fit are not drawn, and noise hits the target too (the paper's samples show
/// both).
struct SyntheticText {
  static constexpr const char* vocabulary = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_!>";
  static constexpr int classes = 29;
  static constexpr int blank = 26;
  static constexpr int noise = 27;
  static constexpr int end_of_prompt = 28;
  static constexpr int prompt = 2;
  static constexpr int body = 64;
  static constexpr int target = 8;
  static constexpr double noise_rate = 1.0 / 16;

  /// Sequence number n of a seed: 66 tokens.
  static std::vector<int> sequence(std::uint64_t seed, std::uint64_t n);
};

/// Statistics of sequences, generated or given.
struct SyntheticStatistics {
  Index sequences = 0;
  double valid_prompts = 0;  ///< share that starts with a letter and '>'
  double noise = 0;          ///< share of '!' among body characters
  double whole_targets = 0;  ///< share of sequences whose body is one target at a place 0..56, blanks, and noise
  double mean_position = 0;  ///< mean position of those targets
  double right_letters = 0;  ///< share of them with the prompt's letter
};
SyntheticStatistics synthetic_statistics(const std::vector<std::vector<int>>& sequences);

/// Place of the target in a sequence of 66 tokens. It is the one place where 8 characters of the body are the letter or
/// noise, with at least one letter, and the rest is blank or noise. The result is −1 if no place, or more than one,
/// fits.
int target_position(const std::vector<int>& sequence, int& letter);

}  // namespace nudge
