// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "training/tapes/experiment_task.hpp"
#include "training/tapes/sequence_model.hpp"

namespace nudge {

/// Sizes of the sequence model of a config: model.channels, model.heads, experiment.blocks, ...; tokens and vocabulary
/// are the task's.
SequenceShape sequence_shape(const Config& config, const std::string& mixer, const TaskSizes& sizes, Readout readout);

/// A sequence model. The loss of an example is the mean cross-entropy over its targets, of which it has at least one.
/// Measured: validation_loss, accuracy over all targets, macro_accuracy: mean over the classes that occur of the share of
/// their targets that is right.
template <class S>
std::unique_ptr<TapeModel<S>> token_model(const SequenceShape& shape);

/// ExperimentTask::Make of it with a variant for each mixer.
template <class S, Readout readout = Readout::each_token>
std::unique_ptr<TapeModel<S>> make_token_model(const Config& config, const std::string& mixer, const TaskSizes& sizes,
                                               std::uint64_t /*seed*/) {
  return token_model<S>(sequence_shape(config, mixer, sizes, readout));
}

const std::vector<Measure>& token_measures();

/// experiment.mixers.
std::vector<std::string> mixer_variants(const Config& config);

}  // namespace nudge
