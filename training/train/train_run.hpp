// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "circuits/energy.hpp"
#include "sim/config/config.hpp"
#include "training/data/reference_scores.hpp"
#include "training/data/text_entropy.hpp"
#include "training/train/null_lane.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// What a caller sees of a running training.
struct TrainProgress {
  std::uint64_t done = 0;  ///< steps done
  std::uint64_t steps = 0;
  double loss = 0;        ///< of the last step's batch
  double validation = 0;  ///< last validation loss, NaN before the first
  double validated = 0;   ///< steps done when it was measured, NaN before
  double residual = 0;
  double damping = 0;
  double beside_loss = 0, beside_validation = 0;  ///< NaN without that lane
  bool finished = false;
  std::string metric = {};  ///< of a task of samples, and the last score on the validation part
  double score = 0;
  double null_loss = std::numeric_limits<double>::quiet_NaN();  ///< the same
  double null_validation = std::numeric_limits<double>::quiet_NaN();
  std::string warning = {};  ///< not empty: to be said before the first step
  std::string doing = {};    ///< not empty: no step has ended, this is being done beside the run
};

/// Called after every step, and while something is done beside the run (TrainProgress::doing); returns false to stop (the run is checkpointed and can be resumed).
using TrainObserver = std::function<bool(const TrainProgress&)>;

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
  TextLines lines = {};                   ///< what counting letters and pairs scores on the same text
  double seconds = 0;
  double array_energy = 0;              ///< J of all reads of a step, median over accepted steps; 0 without crossbars
  double phase_time = 0;                ///< s, simulated time of all phases of a sequence, median over accepted steps
  double pulses = 0, verify_reads = 0;  ///< by which all crossbars learnt, since the start
  double write_energy = 0;              ///< J of these pulses; 0 where the pulses of the device are not known
  double programming_pulses = 0, programming_reads = 0;  ///< by which their weights were first written
  double programming_energy = 0;                         ///< J of these pulses
  double write_failures = 0;                             ///< of write–verify, programming too
  StepEnergy step_energy;
  std::string token_use;  ///< circuit.tokens; empty without crossbars
  Index tokens = 0;
  double devices = 0;                          ///< of all arrays, replicas included
  double ir_drop = 0;                          ///< ir_drop_figure of the worst tile of any array at the end
  std::vector<std::string> notes;              ///< Task::notes and device_notes of the run
  bool stopped = false;                        ///< before its end; it can be resumed
  std::string failure;                         ///< why these numbers are no result; empty: they are one
  std::string beta_advice = "a smaller beta";  ///< what to do with beta where there is a failure
  std::string metric = {};                     ///< "accuracy" or "rmse" of a task of samples, empty of a text
  HeldOutScore score = {}, beside_score = {};
  std::optional<NullResult> null = {};             ///< of the lane whose devices are frozen; nothing without one
  std::optional<ReferenceScores> references = {};  ///< what trivial models score; nothing where no file was written
};

/// Trains from the config; writes `output` (which must not exist) at every checkpoint and at the end. No output: nothing
/// is written (sweeps). Throws UserError before the first step for anything that is wrong with the input.
TrainSummary train(const Config& config, const std::optional<std::filesystem::path>& output,
                   const TrainObserver& observer = {}, FinalTest final_test = FinalTest::evaluate);

/// Continues a run from its file to the same bits that an uninterrupted run gives. `config`: the caller's config, which
/// must equal the file's (UserError listing the keys that differ; threads and output keys may), or nothing.
TrainSummary resume(const std::filesystem::path& file, const Config* config, const TrainObserver& observer = {});

}  // namespace nudge
