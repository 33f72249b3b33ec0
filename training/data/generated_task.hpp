// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "training/data/task.hpp"

namespace nudge {

/// Part of a generated task: training or held-out examples.
enum class Split : std::uint8_t { training, test };

/// Task whose examples are drawn, not read. An example is a pure function of its number and the seed, so two runs with
/// one seed see the same examples. Held-out examples are numbered through, validation first.
class GeneratedTask : public Task {
 public:
  GeneratedTask(Index batch, const HeldOutSizes& held_out) : batch_(batch), held_out_(held_out) {}

  Batch training(std::uint64_t step) const final;
  std::vector<Batch> validation() const final;
  std::vector<Batch> test() const final;
  /// Constant: the config says everything about the data, and a resumed run has the same config.
  std::int64_t fingerprint() const final { return 1; }

 protected:
  Index batch() const { return batch_; }

  /// Makes a batch of `examples` examples, as wide as write() needs them.
  virtual Batch blank(Index examples) const = 0;
  /// Writes example `number` of a part into example b of a batch.
  virtual void write(Split split, std::uint64_t number, Batch& into, Index b) const = 0;
  /// Numbers of a step's training examples: always new ones, unless the task has a fixed number of examples.
  virtual std::vector<std::uint64_t> numbers(std::uint64_t step) const;

 private:
  std::vector<Batch> held_out(std::uint64_t first, Index batches, Index examples) const;

  Index batch_;
  HeldOutSizes held_out_;
};

/// Makes a batch of `examples` sequences of `tokens` tokens whose targets are not yet written.
Batch blank_sequences(Index examples, Index tokens);

/// Writes tokens and targets (Batch::kIgnored where nothing is asked) into sequence b.
void write_sequence(const std::vector<int>& tokens, const std::vector<int>& targets, Batch& into, Index b);

/// Task argmax: model.tokens rows of model.channels values. In each channel one winner is larger by 1, and all values
/// have noise of σ = 0.05. The last row must give every channel's largest value, which a single convex read cannot
/// (appendix P of Lu & Yang, "Free Energy Mixer").
std::unique_ptr<Task> argmax_task(const Config& config);

/// Task latent: the next token of the Free Transformer's synthetic sequences (SyntheticText). A sequence has a letter's
/// prompt and a body with a target at a hidden place, and noise.
std::unique_ptr<Task> latent_task(const Config& config);

/// Throws UserError where model.tokens is not the length of the latent task's sequences.
void check_latent_task(const Config& config);

}  // namespace nudge
