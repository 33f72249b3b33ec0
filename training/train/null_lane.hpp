// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "training/train/learner.hpp"

namespace nudge {

/// The frozen-device lane of a run: the same config, seed, batches and estimator, its devices the same ones, programmed to the same
/// initial weights and then left alone (crossbar.update = none); time passes for them as for the run's, and numbers
/// (tables, biases, weights that no array holds) learn as they do in the run. What the run's loss is below the lane's is what its
/// devices have learnt; what the lane reaches, digital parts reach alone.

/// train.null of a training by itself, auto resolved: "frozen_devices" where devices hold weights and training writes
/// them, else "none".
std::string resolved_null(const Config& config);

/// The config of the lane. Gradients are not compared there.
Config frozen_config(const Config& config);

/// What a network scores on held-out samples, in the metric of the task; NaN where it was not scored.
struct HeldOutScore {
  double validation = std::numeric_limits<double>::quiet_NaN();
  double test = std::numeric_limits<double>::quiet_NaN();
  double test_samples = std::numeric_limits<double>::quiet_NaN();  ///< that the test accuracy is a share of
};

/// The score of a learner in a metric; of none, NaN.
HeldOutScore held_out_score(const Learner& learner, const std::string& metric);

/// What the lane says of a run.
struct NullResult {
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  double test_loss = std::numeric_limits<double>::quiet_NaN();
  HeldOutScore score = {};
  LossGain gain;        ///< of the validation loss
  std::string verdict;  ///< null_verdict()
};
NullResult null_result(const Learner& run, const Learner& null, const std::string& metric);

/// "the devices won 0.2134 nat [0.1822, 0.2447] against frozen ones (95 %, 160 examples)", or that they learnt nothing.
std::string null_verdict(const LossGain& gain, const std::string& unit);

/// /null/validation_loss, what scripts read, and the verdict as attributes of /null.
void write_null(const Learner& run, const Learner& null, H5Document& document);

}  // namespace nudge
