// SPDX-License-Identifier: Apache-2.0
#include "training/data/batches.hpp"

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

}  // namespace

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
