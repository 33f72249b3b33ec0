// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/equilibrium.hpp"
#include "sim/io/h5_document.hpp"
#include "sim/read_timing.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"
#include "training/models/network_plan.hpp"
#include "training/train/learning_run.hpp"
#include "training/train/null_runs.hpp"
#include "training/train/plateau.hpp"
#include "training/train/run_readings.hpp"
#include "training/train/run_values.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

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
  std::string beside = {};                         ///< train.beside; empty without such a run
  std::optional<NullResult> null = {};             ///< result of the devices' learning; nothing without a null run
  std::optional<Plateau> plateau = {};             ///< nothing before the last step
  std::optional<TextLines> lines = {};             ///< scores of counting letters and pairs on the same text
  std::string metric = {};                         ///< "accuracy" or "rmse" of a task of samples, empty of a text
  std::optional<ReferenceScores> references = {};  ///< scores of trivial models; nothing where no file was written
  std::string token_use = {};                      ///< circuit.tokens; empty without crossbars
  Index tokens = 0;
  RunReadings readings = {};            ///< readings that its cost follows from; empty without devices
  Equilibrium equilibrium = {};         ///< the last verdict on its free phases
  std::vector<std::string> notes = {};  ///< Task::notes and device_notes of the run
  bool stopped = false;                 ///< before its end; it can be resumed
  std::string failure = {};             ///< reason why these numbers are no result; empty: they are one
  std::string advice = {};              ///< advice after a failure

  /// RunValues::of().
  double of(std::string_view name) const { return values.of(name); }
};

/// Summary of the present logs of a run and its baseline runs. `plan`: of its circuit, null if the network is none. The caller fills in
/// seconds, counts, and scores of trivial models.
TrainSummary summarise(const Config& config, const TrainingLoop& loop, const NetworkPlan* plan);

/// Notes for users of devices on a run whose devices saw this time pass, a sentence each. Empty for digital weights. Two things
/// are noted:
/// - Retention and read disturb that were asked for and could not act. The whole run is shorter than a hundredth of their time
///   constant (t0 of drift, t1 of decay, T of leak). Drift then changes a conductance by less than nu ln 1.01, a leak by less
///   than 1 %.
/// - A g_min that cuts the spread of bounds.
std::vector<std::string> device_notes(const Config& config, const Elapsed& time);

}  // namespace nudge
