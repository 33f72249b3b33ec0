// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sim/io/run_record.hpp"
#include "training/experiments/experiment.hpp"

namespace nudge {

/// The HDF5 file of an experiment: /results with a row per finished run and /runs/<task>/<variant>/seed<n> with its
/// curves; rewritten as a whole.
class ExperimentFile {
 public:
  ExperimentFile(const ExperimentFiles& files, const Config& config);

  /// Takes the runs that ended well from the file that exists. UserError when it is not an experiment of the same
  /// config: only tasks, mixers, seeds, kappa, threads and output keys may differ.
  void restore(Experiment& experiment);

  void write(const Experiment& experiment);

 private:
  ExperimentFiles files_;
  Config config_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds of the experiment that is resumed
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace nudge
