// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "training/experiments/sequence_model/sequence_model.hpp"
#include "training/experiments/task.hpp"

namespace nudge {

/// Data of a task on sequences of tokens. Safe to use from several threads.
class TokenData {
 public:
  virtual ~TokenData() = default;

  virtual Index vocabulary() const = 0;
  virtual Index tokens() const = 0;
  virtual Readout readout() const { return Readout::each_token; }
  /// Writes tokens() tokens and targets; target −1: not asked for. Each example has at least one target.
  virtual void example(const Example& example, std::vector<int>& tokens, std::vector<int>& targets) const = 0;
  virtual std::vector<Example> batch(std::uint64_t step) const = 0;
  virtual std::vector<Example> tests() const = 0;
};

/// Sizes of the sequence model of a config: model.channels, model.heads, experiment.blocks, ...; tokens and vocabulary
/// are the data's.
SequenceShape sequence_shape(const Config& config, const std::string& mixer, const TokenData& data);

/// A sequence model on token data. The loss of an example is the mean cross-entropy over its targets. Measured:
/// validation_loss, accuracy over all targets, macro_accuracy: mean over the classes that occur of the share of their
/// targets that is right.
template <class S>
std::unique_ptr<Problem<S>> token_problem(const SequenceShape& shape, std::shared_ptr<const TokenData> data);

const std::vector<Measure>& token_measures();

/// experiment.mixers.
std::vector<std::string> mixer_variants(const Config& config);

}  // namespace nudge
