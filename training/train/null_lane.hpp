// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/train/learner.hpp"

namespace nudge {

/// Frozen-device lane of a run: the same config, seed, batches and estimator. It has the same devices, programmed to
/// the same initial weights and then left alone (crossbar.update = none); time passes for them as for the run's.
/// Numbers (tables, biases, weights that no array holds) learn as they do in the run. The devices have learnt the
/// amount by which the run's loss is below the lane's; digital parts alone reach the lane's loss.

/// Returns train.null of a training, with auto resolved: "frozen_devices" where devices hold weights and training
/// writes them, else "none".
std::string resolved_null(const Config& config);

/// Config of the frozen-device lane. Gradients are not compared there.
Config frozen_config(const Config& config);

/// Comparison of a run with its frozen-device lane, beside the lane's own numbers (run_values()).
struct NullResult {
  LossGain gain;        ///< of the validation loss
  std::string verdict;  ///< null_verdict()
};
NullResult null_result(const Learner& run, const Learner& null);

/// Verdict text: "the devices won 0.2134 nat [0.1822, 0.2447] against frozen ones (95 %, 160 examples)", or that they
/// learnt nothing.
std::string null_verdict(const LossGain& gain, const std::string& unit);

/// Writes /null/validation_loss, which scripts read, and the verdict as attributes of /null.
void write_null(const Learner& run, const Learner& null, H5Document& document);

}  // namespace nudge
