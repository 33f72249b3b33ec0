// SPDX-License-Identifier: Apache-2.0
#include "training/data/batches.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {
namespace {

Batch empty_batch(Index sequences, Index tokens) {
  Batch batch{sequences, tokens, {}, {}, {}, {}};
  batch.indices.reserve(static_cast<std::size_t>(sequences * tokens));
  batch.targets.reserve(static_cast<std::size_t>(sequences * tokens));
  return batch;
}

void append_window(std::span<const int> ids, std::size_t start, Batch& batch) {
  const std::span<const int> window = ids.subspan(start, static_cast<std::size_t>(batch.tokens) + 1);
  batch.indices.insert(batch.indices.end(), window.begin(), window.end() - 1);
  batch.targets.insert(batch.targets.end(), window.begin() + 1, window.end());
}

template <class T>
void resize(std::vector<T>& all, Index rows, T fill) {
  if (!all.empty()) all.resize(static_cast<std::size_t>(rows), fill);
}

/// Resizes to `rows` rows; added rows are 0.
void resize(Matrix<float>& all, Index rows) {
  if (all.size() == 0) return;
  const Index before = all.rows();
  all.conservativeResize(rows, Eigen::NoChange);
  if (rows > before) all.bottomRows(rows - before).setZero();
}

}  // namespace

Index Batch::counted(Index b) const {
  Index n = 0;
  for (Index row = b * tokens; row < (b + 1) * tokens; ++row) n += counts(row) ? 1 : 0;
  return n;
}

Index Batch::counted() const {
  Index n = 0;
  for (Index b = 0; b < sequences; ++b) n += counted(b);
  return n;
}

void Batch::set_rows(Index rows) {
  resize(indices, rows, 0);
  resize(targets, rows, kIgnored);
  resize(ignored, rows, true);
  resize(samples, rows, std::int64_t{-1});
  resize(features, rows);
  resize(values, rows);
}

Batch Batch::first(Index count) const {
  Batch part = *this;
  part.sequences = std::min(count, sequences);
  part.set_rows(part.sequences * tokens);
  return part;
}

Batch text_window(std::span<const int> text, Index rows) {
  const auto known = std::min<Index>(rows, static_cast<Index>(text.size()));
  Batch batch;
  batch.sequences = 1;
  batch.tokens = rows;
  batch.indices.assign(text.end() - known, text.end());
  batch.indices.resize(static_cast<std::size_t>(rows), text.back());
  batch.targets.assign(static_cast<std::size_t>(rows), Batch::kIgnored);
  batch.targets[static_cast<std::size_t>(known - 1)] = 0;
  return batch;
}

Batch side_by_side(const Batch& batch, Index tokens) {
  NUDGE_EXPECT(tokens >= 1);
  Batch out = batch;
  const Index rows = batch.sequences * batch.tokens;
  out.tokens = tokens;
  out.sequences = (rows + tokens - 1) / tokens;
  const Index filled = out.sequences * tokens;
  if (filled > rows && out.targets.empty() && out.ignored.empty()) {
    out.ignored.assign(static_cast<std::size_t>(rows), false);
  }
  out.set_rows(filled);
  return out;
}

std::uint64_t training_start(std::span<const int> ids, Index tokens, std::uint64_t seed, std::uint64_t step,
                             std::uint32_t b) {
  const RngKey key{seed, Purpose::batch_order, 0};
  return random_below(ids.size() - static_cast<std::size_t>(tokens), key, step, b, 0);
}

Batch training_batch(std::span<const int> ids, Index sequences, Index tokens, std::uint64_t seed, std::uint64_t step) {
  NUDGE_EXPECT(sequences >= 1 && tokens >= 1 && static_cast<std::size_t>(tokens) < ids.size());
  Batch batch = empty_batch(sequences, tokens);
  for (Index b = 0; b < sequences; ++b) {
    append_window(ids, training_start(ids, tokens, seed, step, static_cast<std::uint32_t>(b)), batch);
  }
  return batch;
}

std::vector<Batch> validation_batches(std::span<const int> ids, Index count, Index sequences, Index tokens) {
  NUDGE_EXPECT(count >= 0 && sequences >= 1 && tokens >= 1 && static_cast<std::size_t>(tokens) < ids.size());
  const std::size_t last_start = ids.size() - static_cast<std::size_t>(tokens) - 1;
  const auto windows = static_cast<std::size_t>(count * sequences);
  std::vector<Batch> batches;
  for (std::size_t w = 0; w < windows; ++w) {
    if (w % static_cast<std::size_t>(sequences) == 0) batches.push_back(empty_batch(sequences, tokens));
    append_window(ids, windows == 1 ? 0 : w * last_start / (windows - 1), batches.back());
  }
  return batches;
}

}  // namespace nudge
