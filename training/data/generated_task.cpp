// SPDX-License-Identifier: Apache-2.0
#include "training/data/generated_task.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

std::vector<std::uint64_t> GeneratedTask::numbers(std::uint64_t step) const {
  const auto size = static_cast<std::uint64_t>(batch_);
  std::vector<std::uint64_t> all;
  all.reserve(size);
  for (std::uint64_t b = 0; b < size; ++b) all.push_back(step * size + b);
  return all;
}

Batch GeneratedTask::training(std::uint64_t step) const {
  const std::vector<std::uint64_t> all = numbers(step);
  Batch batch = blank(static_cast<Index>(all.size()));
  for (std::size_t b = 0; b < all.size(); ++b) write(Split::training, all[b], batch, static_cast<Index>(b));
  return batch;
}

std::vector<Batch> GeneratedTask::held_out(std::uint64_t first, Index batches, Index examples) const {
  std::vector<Batch> all;
  for (Index i = 0; i < batches; ++i) {
    Batch batch = blank(examples);
    for (Index b = 0; b < examples; ++b) write(Split::test, first++, batch, b);
    all.push_back(std::move(batch));
  }
  return all;
}

std::vector<Batch> GeneratedTask::validation() const {
  return held_out(0, held_out_.validation_batches, held_out_.validation_size);
}

std::vector<Batch> GeneratedTask::test() const {
  const auto before = static_cast<std::uint64_t>(held_out_.validation_batches * held_out_.validation_size);
  return held_out(before, held_out_.test_batches, held_out_.test_size);
}

Batch blank_sequences(Index examples, Index tokens) {
  const auto n = static_cast<std::size_t>(examples * tokens);
  return {examples, tokens, std::vector<int>(n), std::vector<int>(n, Batch::kIgnored)};
}

void write_sequence(const std::vector<int>& tokens, const std::vector<int>& targets, Batch& into, Index b) {
  NUDGE_EXPECT(static_cast<Index>(tokens.size()) == into.tokens && targets.size() == tokens.size());
  std::copy(tokens.begin(), tokens.end(), into.indices.begin() + b * into.tokens);
  std::copy(targets.begin(), targets.end(), into.targets.begin() + b * into.tokens);
}

}  // namespace nudge
