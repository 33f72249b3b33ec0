// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Batch of B independent examples of T rows: row t of example b is at b·T + t. A task has symbols (characters: T
/// tokens, the target of a token is the next one) or features (classification, regression: T samples side by side). The
/// other arrays are empty. Some rows may not count, such as the rows that fill up the last example. Costs give them the
/// value 0 and the gradient 0, and means are over the rows that count.
struct Batch {
  static constexpr int kIgnored = -1;  ///< target of a row that does not count

  Index sequences = 0;             ///< B
  Index tokens = 0;                ///< T
  std::vector<int> indices;        ///< symbols, (B, T) row-major
  std::vector<int> targets;        ///< class of each row, for characters the next one, or kIgnored; (B, T) row-major
  Matrix<float> features = {};     ///< features of each row, (B·T, inputs)
  Matrix<float> values = {};       ///< real numbers to fit, (B·T, outputs)
  std::vector<bool> ignored = {};  ///< rows of `values` that do not count, (B, T); empty: all count
  /// Sample numbers (B, T), counted from 0 in the part that the samples are drawn from; -1 for rows that do not count.
  /// Empty: none.
  std::vector<std::int64_t> samples = {};

  /// True if row b·T + t counts.
  bool counts(Index row) const {
    const auto at = static_cast<std::size_t>(row);
    return targets.empty() ? ignored.empty() || !ignored[at] : targets[at] != kIgnored;
  }
  /// Number of rows that count.
  Index counted() const;
  /// Number of rows of example b that count.
  Index counted(Index b) const;

  /// Sets the number of rows of every array that is not empty; added ones are 0 and do not count.
  void set_rows(Index rows);
  /// Batch of the first examples, at most `count`.
  Batch first(Index count) const;

  std::span<const int> indices_of(Index b) const { return row(indices, b); }
  std::span<const int> targets_of(Index b) const { return row(targets, b); }
  std::span<const std::int64_t> samples_of(Index b) const { return row(samples, b); }
  /// Views of example b: features (T, inputs) and values (T, outputs).
  auto features_of(Index b) const { return features.middleRows(b * tokens, tokens); }
  auto values_of(Index b) const { return values.middleRows(b * tokens, tokens); }

 private:
  template <class T>
  std::span<const T> row(const std::vector<T>& all, Index b) const {
    return std::span(all).subspan(static_cast<std::size_t>(b * tokens), static_cast<std::size_t>(tokens));
  }
};

/// Batch of one example with the last symbols of a text, at most `rows`, filled up with its last symbol. Only the
/// text's last symbol counts; its target is no answer, as the next symbol is asked for. Needs a text.
Batch text_window(std::span<const int> text, Index rows);

/// Regroups the rows of a batch in order, T = `tokens` to an example. Rows of zeros that do not count fill up the last
/// example.
Batch side_by_side(const Batch& batch, Index tokens);

/// Draws B windows of T + 1 characters at starts uniform in all of `ids` (with replacement). A pure function of (ids,
/// seed, step): a resumed run and any estimator with the same seed see the same batches. Needs T < ids.size().
Batch training_batch(std::span<const int> ids, Index sequences, Index tokens, std::uint64_t seed, std::uint64_t step);

/// Start of window b in training_batch() with these arguments.
std::uint64_t training_start(std::span<const int> ids, Index tokens, std::uint64_t seed, std::uint64_t step,
                             std::uint32_t b);

/// Makes `count` batches, the same for every seed and step: count·B windows, evenly spaced from the first to the last
/// possible start. Windows overlap when the text is shorter than count·B·T characters. Needs T < ids.size().
std::vector<Batch> validation_batches(std::span<const int> ids, Index count, Index sequences, Index tokens);

}  // namespace nudge
