// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// B independent examples of T rows: row t of example b is at b·T + t. Symbols (characters: T tokens, the target of a token
/// is the next one) or features (classification, regression: T samples side by side); what a task does not have is empty.
/// Rows may be there that do not count, such as those that fill up the last example: costs give them the value 0 and the
/// gradient 0, and means are over the rows that count.
struct Batch {
  static constexpr int kIgnored = -1;  ///< target of a row that does not count

  Index sequences = 0;             ///< B
  Index tokens = 0;                ///< T
  std::vector<int> indices;        ///< (B, T) row-major: symbols
  std::vector<int> targets;        ///< (B, T) row-major: the class of each row, of characters the next one; or kIgnored
  Matrix<float> features = {};     ///< (B·T, inputs)
  Matrix<float> values = {};       ///< (B·T, outputs): real numbers to fit
  std::vector<bool> ignored = {};  ///< (B, T) beside values: rows that do not count; empty: all do
  /// (B, T) numbers of the samples in the part that they are drawn from, from 0 on; -1 for rows that do not count; empty: they have none.
  std::vector<std::int64_t> samples = {};

  /// Whether a row, b·T + t, counts.
  bool counts(Index row) const {
    const auto at = static_cast<std::size_t>(row);
    return targets.empty() ? ignored.empty() || !ignored[at] : targets[at] != kIgnored;
  }
  /// How many do.
  Index counted() const;
  /// Of one example.
  Index counted(Index b) const;

  /// The first examples, at most `count`.
  Batch first(Index count) const;

  std::span<const int> indices_of(Index b) const { return row(indices, b); }
  std::span<const int> targets_of(Index b) const { return row(targets, b); }
  std::span<const std::int64_t> samples_of(Index b) const { return row(samples, b); }
  /// (T, inputs) and (T, outputs), views.
  auto features_of(Index b) const { return features.middleRows(b * tokens, tokens); }
  auto values_of(Index b) const { return values.middleRows(b * tokens, tokens); }

 private:
  template <class T>
  std::span<const T> row(const std::vector<T>& all, Index b) const {
    return std::span(all).subspan(static_cast<std::size_t>(b * tokens), static_cast<std::size_t>(tokens));
  }
};

/// One example whose rows are the last of a text, at most `rows`; behind them its last symbol fills it up. Only the last of the text counts
/// (its target is no answer: what follows is asked for). Needs a text.
Batch text_window(std::span<const int> text, Index rows);

/// The same rows, T of them to an example, in order; rows that do not count, with zeros, fill up the last example.
Batch side_by_side(const Batch& batch, Index tokens);

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
