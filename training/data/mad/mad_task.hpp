// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"
#include "training/data/generated_task.hpp"

namespace nudge {

/// Synthetic token tasks of "Mechanistic Design and Scaling of Hybrid Architectures" (Poli et al., arXiv:2403.17844) as
/// the published generators make them. The published score of a task is a mean over difficulties: the sizes below, and
/// each of vocabulary, tokens and examples varied alone (results/experiments.md).
enum class MadKind { in_context_recall, noisy_recall, fuzzy_recall, selective_copy, compression, memorization };

struct MadSizes {
  Index vocabulary;
  Index tokens;    ///< T, tokens of the inputs
  Index examples;  ///< examples of the training set
  Index tests;
  Index epochs;
  Index batch;
};

/// Returns the name of a kind in configs.
const char* to_string(MadKind kind);

/// Number of tokens of noisy_recall that are neither key nor value.
constexpr Index kNoiseTokens = 16;

/// Published sizes at baseline difficulty: 12800 training and 1280 test sequences (memorization 256), 200 epochs,
/// batches of 128.
MadSizes published_sizes(MadKind kind);

/// One example: the tokens that the model reads, and the target at each place (−1: none).
struct MadExample {
  std::vector<int> tokens;
  std::vector<int> targets;
};

/// Example `number` of a split: a pure function of its arguments. With V the vocabulary and T the tokens:
///
/// - in_context_recall: (T+1)/2 pairs of a key 0..V/2−1 and a value V/2..V−1. A key keeps the value of its first
///   occurrence (values may repeat). The last key is one presented before. Read: all but the last token. Targets in
///   training: the next token everywhere; in tests: the value after every key that occurred before. T even: T − 1 tokens
///   are read.
/// - noisy_recall: the same with 16 noise tokens V−16..V−1, keys 0..V/2−9, values V/2−8..V−17. Each pair but the last and
///   a random one is with probability 0.2 two noise tokens instead.
/// - fuzzy_recall: keys are motifs of 1 to 3 (tests: 3) different tokens 0..V/2−2, values motifs of 1 to 3 of V/2−1..V−2.
///   A key keeps its value. One pair, the probe, stands at a random place and again at the end. Padded with V−1 on the
///   left. Targets in training: the next token (not of padding); in tests: the value tokens of keys that occurred before.
/// - selective_copy: n tokens 0..V−3 (n = T/16, at least 8, at most 16), with T − 2n − 1 blanks V−2 at random places
///   before the last of them. Then a copy token V−1 and n blanks. Targets: the tokens in order, on the last n places.
/// - compression: T − 1 tokens 0..V−2 and V−1. Targets: all T tokens, of an auto-encoder.
/// - memorization: T/2 pairs of a key 0..V/2−2 and the token V−1. The target at that token is the key's value V/2−1..V−2
///   of one fixed map per seed, in which no value occurs twice.
MadExample mad_example(MadKind kind, const MadSizes& sizes, std::uint64_t seed, Split split, std::uint64_t number);

/// Token task of the MAD suite, with its training examples in a new random order in each epoch. In training every next
/// token counts, on held-out examples the tokens that can be known (mad_example).
class MadTask final : public GeneratedTask {
 public:
  /// Makes the task. UserError where the tokens are too few for the kind.
  MadTask(MadKind kind, const MadSizes& sizes, const HeldOutSizes& held_out, std::uint64_t seed);

  TaskSizes sizes() const override { return {tokens_, sizes_.vocabulary, sizes_.vocabulary}; }
  /// Reference score chance: any of the answers that the kind can have.
  std::optional<ReferenceScores> references(const ReferenceRequest& request) const override;

 protected:
  Batch blank(Index examples) const override { return blank_sequences(examples, tokens_); }
  void write(Split split, std::uint64_t number, Batch& into, Index b) const override;
  std::vector<std::uint64_t> numbers(std::uint64_t step) const override;

 private:
  MadKind kind_;
  MadSizes sizes_;
  std::uint64_t seed_;
  Index tokens_;  ///< tokens that the model reads
};

Index steps_per_epoch(const MadSizes& sizes);

/// Sizes of a kind as a task of `nudge train`: model.tokens that are read, task.examples, train.batch. UserError for
/// tokens that its sequences cannot have.
MadSizes mad_sizes(MadKind kind, const Config& config);

/// Makes the MAD task of a config, with held_out_sizes().
std::unique_ptr<Task> make_mad_task(MadKind kind, const Config& config);

}  // namespace nudge
