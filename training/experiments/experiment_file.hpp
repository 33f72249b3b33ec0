// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "sim/io/run_record.hpp"
#include "training/experiments/experiment.hpp"
#include "training/sweep/point_table.hpp"
#include "training/train/training_loop.hpp"

namespace nudge {

/// A run that is not finished.
struct RunUnderWay {
  const ExperimentRun* run;
  const TrainingLoop* loop;
  double seconds;  ///< that it took so far
};

/// The HDF5 file of an experiment: /results with a row per finished run, /runs/<task>/<variant>/seed<n> with its curves,
/// /outside/results and /outside/runs the same of Experiment::outside, and /underway with the checkpoint of a run that is not finished;
/// rewritten as a whole.
class ExperimentFile {
 public:
  ExperimentFile(const ExperimentFiles& files, const Config& config);

  /// Takes the runs, and all that are outside, from the file that exists. UserError when it is not an experiment of the
  /// same config: only tasks, mixers, seeds, kappa, threads and output keys may differ.
  void restore(Stored kept, Experiment& experiment);
  /// UserError: the checkpoint of the file is of none of these runs and would be lost with the first write.
  void expect_checkpoint_within(const Experiment& experiment) const;
  /// Group of the run that the checkpoint of the file is of, if that is none of these runs; empty otherwise.
  std::string checkpoint_outside(const Experiment& experiment) const;

  /// Whether the file that was restored has a checkpoint of this run.
  bool is_under_way(const ExperimentRun& run) const { return under_way_ && *under_way_ == name_of(run); }
  /// Takes it over; returns the seconds that it took so far.
  double restore(const ExperimentRun& run, TrainingLoop& loop) const;

  void write(const Experiment& experiment, const std::optional<RunUnderWay>& under_way = {});

 private:
  static std::string name_of(const ExperimentRun& run);
  static void take_runs(const H5Reader& file, const std::string& prefix, Stored kept, Experiment& experiment);

  ExperimentFiles files_;
  Config config_;
  RunRecord record_;
  Overwrite overwrite_;
  std::optional<std::string> under_way_;
  double earlier_ = 0;  ///< seconds of the experiment that is resumed
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nudge
