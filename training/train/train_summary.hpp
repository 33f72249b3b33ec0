// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/read_timing.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"
#include "training/models/network_plan.hpp"
#include "training/train/learning_run.hpp"
#include "training/train/run_values.hpp"
#include "training/train/training_loop.hpp"

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
NullResult null_result(const LearningRun& run, const LearningRun& null);

/// Verdict text: "the devices won 0.2134 nat [0.1822, 0.2447] against frozen ones (95 %, 160 examples)", or that they
/// learnt nothing.
std::string null_verdict(const LossGain& gain, const std::string& unit);

/// Writes /null/validation_loss, which scripts read, and the verdict as attributes of /null.
void write_null(const LearningRun& run, const LearningRun& null, H5Document& document);

/// Cosine of a gradient with the exact adjoint's over one parameter group, NaN for a group without gradient.
struct GroupCosine {
  std::string group;
  double cosine = 0;
};

/// Results of a run (or of the part that was run).
struct TrainSummary {
  std::uint64_t done = 0;  ///< steps
  double seconds = 0;
  RunValues values = {};
  std::vector<GroupCosine> group_cosines = {};     ///< the last comparison of gradients; empty when not measured
  std::string beside = {};                         ///< train.beside, empty without such a lane
  std::optional<NullResult> null = {};             ///< of the lane whose devices are frozen; nothing without one
  std::optional<TextLines> lines = {};             ///< scores of counting letters and pairs on the same text
  std::string metric = {};                         ///< "accuracy" or "rmse" of a task of samples, empty of a text
  std::optional<ReferenceScores> references = {};  ///< scores of trivial models; nothing where no file was written
  std::string token_use = {};                      ///< circuit.tokens; empty without crossbars
  Index tokens = 0;
  std::vector<std::string> notes = {};  ///< Task::notes and device_notes of the run
  bool stopped = false;                 ///< before its end; it can be resumed
  std::string failure = {};             ///< why these numbers are no result; empty: they are one
  std::string advice = {};              ///< what may help where there is a failure

  /// RunValues::of().
  double of(std::string_view name) const { return values.of(name); }
};

/// What the logs of a run's lanes say at present. `plan`: of its circuit, null where the network is none. Seconds, and what counting and
/// trivial models score, are the caller's.
TrainSummary summarise(const Config& config, const TrainingLoop& loop, const NetworkPlan* plan);

/// What a user of devices ought to know about a run whose devices saw this time pass, a sentence each: retention and read
/// disturb that were asked for and could not act, because the whole run is shorter than a hundredth of their time constant (t0 of
/// drift, t1 of decay, T of leak; drift then changes a conductance by less than nu ln 1.01, a leak by less than 1 %), and
/// a g_min that cuts the spread of bounds. Empty for digital weights.
std::vector<std::string> device_notes(const Config& config, const Elapsed& time);

}  // namespace nudge
