// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "circuits/energy.hpp"
#include "sim/config/config.hpp"
#include "training/data/scores.hpp"
#include "training/data/text_dataset.hpp"
#include "training/models/network_plan.hpp"
#include "training/models/tapes/tape_model.hpp"
#include "training/train/null_lane.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// Cosine of a gradient with the exact adjoint's over one parameter group, NaN for a group without gradient.
struct GroupCosine {
  std::string group;
  double cosine = 0;
};

/// What a step takes on the simulated circuit: medians over accepted steps; of writing, means over all steps since the start.
struct StepEnergy {
  EnergyReport items;
  double conversions = 0;    ///< of converters that are modelled
  double lines = 0;          ///< driven and sensed
  double amplifier_s = 0;    ///< sensed lines times the length of their read
  double cell_V2 = 0;        ///< devices on driven lines times V²
  double operations = 0;     ///< digital
  bool pulses_known = true;  ///< what a pulse of the device takes
};

/// What a network is measured by beside loss and metric, at the end of the run on the validation part.
struct MeasuredValue {
  Measure what;
  double value = 0;
};

/// Results of a run (or of the part that was run).
struct TrainSummary {
  std::uint64_t done = 0;
  double loss = 0;  ///< final_training_loss()
  double validation_loss = 0;
  double test_loss = 0;  ///< NaN unless the run has ended and was to read the test part
  double residual = 0, damping = 0;
  std::uint64_t skipped = 0, nonfinite = 0;
  double nudge_snr = 0, expected_cosine = 0;  ///< last of NudgeSignal; NaN without noise or nudge
  double cosine = 0;  ///< last gradient cosine over all parameters of the equilibrium, NaN when not measured
  std::vector<GroupCosine> group_cosines = {};  ///< of the same comparison; empty when not measured
  std::string beside;                           ///< train.beside, empty without such a lane
  double beside_validation_loss = 0, beside_test_loss = 0;
  Index weights = 0, beside_weights = 0;  ///< numbers that are learnt
  std::optional<TextLines> lines =
      {};  ///< what counting letters and pairs scores on the same text; nothing without a text
  double seconds = 0;
  double array_energy = 0;              ///< J of all reads of a step, median over accepted steps; 0 without crossbars
  double phase_time = 0;                ///< s, simulated time of all phases of a sequence, median over accepted steps
  double pulses = 0, verify_reads = 0;  ///< by which all crossbars learnt, since the start
  double transfer_reads = 0;            ///< of columns, by update rules with a fast array
  double most_pulses = 0;               ///< that one device has had, of programming too
  double digital_numbers = 0;           ///< per weight, of optimizer and update rule
  double write_energy = 0;              ///< J of these pulses; 0 where the pulses of the device are not known
  double programming_pulses = 0, programming_reads = 0;  ///< by which their weights were first written
  double programming_energy = 0;                         ///< J of these pulses
  double write_failures = 0;                             ///< of write–verify, programming too
  StepEnergy step_energy;
  std::string token_use;  ///< circuit.tokens; empty without crossbars
  Index tokens = 0;
  double devices = 0;              ///< of all arrays, replicas included
  double ir_drop = 0;              ///< ir_drop_figure of the worst tile of any array at the end
  std::vector<std::string> notes;  ///< Task::notes and device_notes of the run
  bool stopped = false;            ///< before its end; it can be resumed
  std::string failure;             ///< why these numbers are no result; empty: they are one
  std::string advice;              ///< what may help where there is a failure
  std::string metric = {};         ///< "accuracy" or "rmse" of a task of samples, empty of a text
  HeldOutScore score = {}, beside_score = {};
  std::vector<MeasuredValue> measures = {};        ///< of a network that has some
  std::optional<NullResult> null = {};             ///< of the lane whose devices are frozen; nothing without one
  std::optional<ReferenceScores> references = {};  ///< what trivial models score; nothing where no file was written
};

/// What the logs of a run's lanes say at present. `plan`: of its circuit, null where the network is none. Seconds, and what counting and
/// trivial models score, are the caller's.
TrainSummary summarise(const Config& config, const TrainingLoop& loop, const NetworkPlan* plan);

/// What a user of devices ought to know about a run whose devices saw `elapsed_s` seconds pass, a sentence each: retention
/// that was asked for and could not act, because the whole run is shorter than a hundredth of its time constant (t0 of
/// drift, t1 of decay, T of leak; drift then changes a conductance by less than nu ln 1.01, a leak by less than 1 %), and
/// a g_min that cuts the spread of bounds. Empty for digital weights.
std::vector<std::string> device_notes(const Config& config, double elapsed_s);

/// The final training loss of a run, everywhere: the mean over the last tenth of the steps, at least one, since one batch
/// alone is noisy; of a thinned log (train_log.hpp), of those that it has. Steps whose loss is not finite (rolled back, counted elsewhere) are left out; NaN when none is left.
inline double final_training_loss(const std::vector<double>& losses) {
  const std::size_t take = std::min(losses.size(), std::max<std::size_t>(1, losses.size() / 10));
  double sum = 0;
  int finite = 0;
  for (std::size_t i = losses.size() - take; i < losses.size(); ++i) {
    if (!std::isfinite(losses[i])) continue;
    sum += losses[i];
    ++finite;
  }
  return finite > 0 ? sum / finite : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace nudge
