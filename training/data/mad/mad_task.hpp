// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/mad/generators.hpp"

namespace nudge {

/// A token task of the MAD suite (generators.hpp): its training examples in an order that is drawn anew in each epoch. What
/// counts in training is every next token, on held-out examples what can be known (mad_example).
class MadTask final : public GeneratedTask {
 public:
  /// UserError where the tokens are too few for the kind.
  MadTask(MadKind kind, const MadSizes& sizes, const HeldOutSizes& held_out, std::uint64_t seed);

  TaskSizes sizes() const override { return {tokens_, sizes_.vocabulary, sizes_.vocabulary}; }
  /// Chance: any of the answers that the kind can have.
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override;

 protected:
  Batch blank(Index examples) const override { return blank_sequences(examples, tokens_); }
  void write(Split split, std::uint64_t number, Batch& into, Index b) const override;
  std::vector<std::uint64_t> numbers(std::uint64_t step) const override;

 private:
  MadKind kind_;
  MadSizes sizes_;
  std::uint64_t seed_;
  Index tokens_;  ///< that are read
};

Index steps_per_epoch(const MadSizes& sizes);

/// The sizes of the kind as a task of `nudge train`: model.tokens that are read, task.examples, train.batch. UserError for
/// tokens that its sequences cannot have.
MadSizes mad_sizes(MadKind kind, const Config& config);

/// That task, with held_out_sizes().
std::unique_ptr<Task> make_mad_task(MadKind kind, const Config& config);

}  // namespace nudge
