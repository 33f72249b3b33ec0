// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "training/data/text_entropy.hpp"
#include "training/sweep/spread.hpp"
#include "training/tapes/experiment_task.hpp"
#include "training/train/train_log.hpp"

namespace nudge {

/// One trained model of an experiment.
struct ExperimentRun {
  std::string task, variant;
  std::int64_t seed = 0;
  std::int64_t steps = 0;       ///< it is to take
  std::int64_t parameters = 0;  ///< numbers it learns
  double wall_time_s = 0;
  std::string status;  ///< "ok", what went wrong, or empty: not run to its end yet
  TrainLog log;        ///< columns step, loss, validation_step and the measures (TapeLearner)

  /// Measure m of the finished model, NaN where there is none.
  double result(std::size_t m) const;
};

/// All runs of experiment.tasks × their variants × experiment.seeds, in that order.
struct Experiment {
  std::vector<ExperimentRun> runs;
  std::vector<ExperimentRun> outside = {};  ///< finished runs of the resumed file that are none of these: kept in it
  std::optional<TextLines> lines = {};      ///< of the text, where the task `characters` learns one
  bool interrupted = false;

  std::size_t count_ok() const;
};

/// The runs before anything is run; every problem is made once. One UserError with everything that is wrong.
Experiment plan_experiment(const Config& config);

struct ExperimentFiles {
  std::filesystem::path output;  ///< rewritten after every run and every train.checkpoint_every steps
  bool resume = false;  ///< it exists: its runs that ended well are kept, the one under way goes on; none is dropped
};

/// Who watches an experiment; `stop` is asked after each training step.
struct ExperimentObserver {
  /// After `done` steps of a run, with what it has logged.
  std::function<void(const ExperimentRun& run, std::int64_t done, const TrainLog& log)> step = {};
  std::function<void(const ExperimentRun& run, std::size_t done, std::size_t of)> finished = {};
  std::function<bool()> stop = {};
};

/// Runs what is left, one run after the other, each parallel over the examples of its batches: results do not depend on
/// the number of threads, nor on what was kept from a file: one that was stopped goes on from its last checkpoint. A run that
/// fails is recorded with its status, the others go on.
Experiment run_experiment(const Config& config, const ExperimentFiles& files, const ExperimentObserver& observer = {});

/// Removes the finished runs of files.output that are none of the config's (Experiment::outside), and the checkpoint of one under way that
/// is not; runs nothing. Returns what was removed.
struct DroppedRuns {
  std::vector<ExperimentRun> finished;
  std::string under_way;  ///< its group, "runs/argmax/softmax/seed1"; empty: none
};
DroppedRuns drop_outside_experiment(const Config& config, const ExperimentFiles& files);

/// The runs of all seeds of one variant of a task.
struct ExperimentRow {
  std::string task, variant;
  int runs = 0, failed = 0;
  std::int64_t parameters = 0;
  double wall_time_s = 0;                ///< mean of those that ended well
  std::vector<CellSpread> results = {};  ///< per measure of the task
};
std::vector<ExperimentRow> summarise_experiment(const Experiment& experiment);

}  // namespace nudge
