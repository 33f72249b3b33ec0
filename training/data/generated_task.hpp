// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "training/data/task.hpp"

namespace nudge {

/// Which part of a generated task an example is of: what is trained on, or what is held out.
enum class Split : std::uint8_t { training, test };

/// A task whose examples are drawn and not read: the example of a number is a pure function of the seed, so no two runs of a
/// seed differ in what they see. Held-out examples are numbered through, those of validation first.
class GeneratedTask : public Task {
 public:
  GeneratedTask(Index batch, const HeldOutSizes& held_out) : batch_(batch), held_out_(held_out) {}

  Batch training(std::uint64_t step) const final;
  std::vector<Batch> validation() const final;
  std::vector<Batch> test() const final;
  /// The config says it all, and a resumed run has the same one.
  std::int64_t fingerprint() const final { return 1; }

 protected:
  Index batch() const { return batch_; }

  /// So many examples, as wide as write() needs them.
  virtual Batch blank(Index examples) const = 0;
  /// Makes example `number` of a part the example b of a batch.
  virtual void write(Split split, std::uint64_t number, Batch& into, Index b) const = 0;
  /// Numbers of a step's training examples; always new ones unless a task has so and so many.
  virtual std::vector<std::uint64_t> numbers(std::uint64_t step) const;

 private:
  std::vector<Batch> held_out(std::uint64_t first, Index batches, Index examples) const;

  Index batch_;
  HeldOutSizes held_out_;
};

/// A batch of so many sequences of tokens whose targets are all still to be written.
Batch blank_sequences(Index examples, Index tokens);

/// Makes these tokens and targets (Batch::kIgnored where nothing is asked) the sequence b.
void write_sequence(const std::vector<int>& tokens, const std::vector<int>& targets, Batch& into, Index b);

/// argmax: model.tokens rows of model.channels values. Each channel has one winner that is 1 larger, noise of σ = 0.05 is everywhere; the
/// last row must give every channel's largest value (appendix P of Lu & Yang, "Free Energy Mixer"), which a single convex read cannot.
std::unique_ptr<Task> argmax_task(const Config& config);

/// latent: the next token of the Free Transformer's synthetic sequences (SyntheticText): a letter's prompt and a body with a target at a
/// hidden place, and noise.
std::unique_ptr<Task> latent_task(const Config& config);

/// UserError where model.tokens is not the length of its sequences.
void check_latent_task(const Config& config);

}  // namespace nudge
