// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// B independent examples of T rows: row t of example b is at b·T + t. Symbols (characters: T tokens, the target of a token
/// is the next one) or features (classification, regression: samples, T = 1); what a task does not have is empty.
struct Batch {
  Index sequences = 0;          ///< B
  Index tokens = 0;             ///< T
  std::vector<int> indices;     ///< (B, T) row-major: symbols
  std::vector<int> targets;     ///< (B, T) row-major: the class of each row, of characters the next one
  Matrix<float> features = {};  ///< (B·T, inputs)
  Matrix<float> values = {};    ///< (B·T, outputs): real numbers to fit

  std::span<const int> indices_of(Index b) const { return row(indices, b); }
  std::span<const int> targets_of(Index b) const { return row(targets, b); }
  /// (T, inputs) and (T, outputs), views.
  auto features_of(Index b) const { return features.middleRows(b * tokens, tokens); }
  auto values_of(Index b) const { return values.middleRows(b * tokens, tokens); }

 private:
  std::span<const int> row(const std::vector<int>& all, Index b) const {
    return std::span(all).subspan(static_cast<std::size_t>(b * tokens), static_cast<std::size_t>(tokens));
  }
};

/// B windows of T + 1 characters at starts drawn uniformly from all of `ids` (with replacement): a pure function of
/// (ids, seed, step), so a resumed run and any estimator with the same seed see the same batches. Needs T < ids.size().
Batch training_batch(std::span<const int> ids, Index sequences, Index tokens, std::uint64_t seed, std::uint64_t step);

/// Where window b of that batch starts.
std::uint64_t training_start(std::span<const int> ids, Index tokens, std::uint64_t seed, std::uint64_t step,
                             std::uint32_t b);

/// The same `count` batches for every seed and step: count·B windows, evenly spaced from the first to the last
/// possible start. Windows overlap when the text is shorter than count·B·T characters. Needs T < ids.size().
std::vector<Batch> validation_batches(std::span<const int> ids, Index count, Index sequences, Index tokens);

}  // namespace nudge
