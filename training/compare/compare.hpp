// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/share_interval.hpp"
#include "training/compare/choice.hpp"
#include "training/compare/paired.hpp"
#include "training/config/entrants.hpp"
#include "training/sweep/estimate.hpp"
#include "training/sweep/spread.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {

/// One entrant's row: where in the grid it stands, and its runs with the fresh seeds.
struct ComparedEntrant {
  Entrant entrant;
  std::optional<Choice> choice;                       ///< nothing: no combination of the grid ended well
  int runs = 0, failed = 0;                           ///< with the test seeds, those that ended well and the others
  CellSpread validation = {}, test = {};              ///< nat per character at the end
  double skipped = 0, nonfinite = 0;                  ///< steps of all these runs together
  PairedDifference difference = {};                   ///< of the test losses with the baseline's, the first entrant
  CellSpread validation_score = {}, test_score = {};  ///< in Comparison::metric, where there is one
  PairedDifference score_difference = {};
  double test_samples = 0;  ///< that a run's test accuracy is a share of; 0: its score is another
  Interval one_run = {};    ///< share_interval() of one run's test accuracy at the score shown; else NaN
};

/// A comparison: every entrant is tuned on the same grid by the validation part with the tuning seeds, then trained with
/// fresh seeds at its own best place, and only these runs read the test part.
struct Comparison {
  std::vector<std::string> keys;  ///< of the grid
  Sweep tuning, test;             ///< keys: entrant, then those of the grid; empty tuning where the grid is one point
  std::vector<ComparedEntrant> entrants;
  std::optional<TextLines> lines;  ///< of the text, where all entrants share it
  std::string metric = {};         ///< of a task of samples: "accuracy" or "rmse"
  std::string holds = {};          ///< what the intervals of the differences hold (intervals_hold)
  std::size_t tuning_seeds = 0;    ///< runs that each place of the grid was judged by; 0: nothing was tuned
  std::optional<ReferenceScores> references = {};  ///< of the samples, where all entrants share them
  bool interrupted = false;
  bool waits = false;  ///< a part of the tuning has ended (SweepFiles::shard): the choice needs the others

  /// Finished runs of the resumed file that are of no point of the grid, no seed, or no place that was chosen: kept in it.
  std::size_t count_outside() const { return tuning.outside.size() + test.outside.size(); }
};

/// Runs what is left of the protocol, sweep.parallel points at the same time, and rewrites the file after each; a killed
/// comparison resumes to the same content. UserError before the first run for everything that is wrong with any run.
/// With a shard, runs its points of the tuning; where the file that is resumed holds the whole tuning (merge_sweeps), its points
/// of the test runs.
Comparison run_compare(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer = {});

/// As drop_outside() of a sweep; the test runs at another place than the tuning of the config chooses are outside too. UserError besides:
/// the tuning is not complete.
Comparison drop_outside_compare(const ConfigSource& source, const SweepFiles& files, Drop drop);

/// What run_compare() with the same arguments takes: all of the tuning, and the test runs as if every entrant's were at the
/// first place of the grid; with a shard, its share of both.
StudyEstimate estimate_compare(const ConfigSource& source, const SweepFiles& files,
                               const std::function<bool(std::size_t, std::size_t)>& watch = {});

}  // namespace nudge
