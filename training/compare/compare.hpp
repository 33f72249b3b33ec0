// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/config/config.hpp"
#include "sim/io/run_record.hpp"
#include "training/compare/paired.hpp"
#include "training/config/entrants.hpp"
#include "training/sweep/estimate.hpp"
#include "training/sweep/spread.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_file.hpp"
#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// Point of the grid at which a method is reported.
struct Choice {
  Combination combination;  ///< settings of the chosen point
  /// Values of the keys of the grid, as the config prints them; empty: the method does not read the key.
  std::vector<std::string> values;
  /// Numeric keys whose chosen value is the smallest or largest of several: extend their range.
  std::vector<std::string> edges;
  double validation_loss = 0;  ///< mean validation loss over the tuning seeds; NaN where nothing was tuned
};

/// Chooses the combination with the smallest mean validation loss over the tuning seeds; of equal losses the first. A
/// combination in which a run failed is not chosen; nothing if none is left. `tuning` holds the points of a method in
/// the order combinations × seeds. If it is empty, nothing is tuned and the first combination is the choice.
std::optional<Choice> choose(const std::vector<GridAxis>& axes, const std::vector<Combination>& combinations,
                             const std::vector<SweepPoint>& tuning, const std::vector<Measure>& metrics);

/// Result of one method: its chosen grid point, and its runs with the fresh seeds.
struct ComparedEntrant {
  Entrant entrant;
  std::optional<Choice> choice;                       ///< chosen point; nothing: no combination of the grid ended well
  int runs = 0, failed = 0;                           ///< test runs that ended well, and that failed
  CellSpread validation = {}, test = {};              ///< losses at the end, nat per character
  double skipped = 0, nonfinite = 0;                  ///< skipped and non-finite steps of all these runs together
  PairedDifference difference = {};                   ///< test losses minus the losses of the baseline, the first
                                                      ///< method
  CellSpread validation_score = {}, test_score = {};  ///< scores in Comparison::metric, where there is one
  PairedDifference score_difference = {};
  double test_samples = 0;  ///< number of samples behind a run's test accuracy; 0: the score is not an accuracy
  Interval one_run = {};    ///< interval of one run's test accuracy (share_interval()) at the score shown; else NaN
};

/// Comparison of methods. Every method is tuned on the same grid, by the validation split, with the tuning seeds. It
/// is then trained with fresh seeds at its own best point, and only these runs read the test split.
struct Comparison {
  std::vector<std::string> keys;  ///< keys of the grid
  Sweep tuning, test;             ///< runs by method and keys of the grid; empty tuning where the grid is one point
  std::vector<ComparedEntrant> entrants;
  std::optional<TextLines> lines;  ///< reference losses of the text, where all methods share it
  std::string metric = {};         ///< score of a task of samples: "accuracy" or "rmse"
  std::string holds = {};          ///< sentence on what the intervals of the differences cover (intervals_hold)
  std::size_t tuning_seeds = 0;    ///< runs that judged each point of the grid; 0: nothing was tuned
  std::optional<ReferenceScores> references = {};  ///< reference scores of the samples, where all methods share them
  bool interrupted = false;
  /// True if a part of the tuning has ended (SweepFiles::shard) and the choice needs the other parts.
  bool waits = false;

  /// Number of finished runs of the resumed file that belong to no point of the grid, no seed or no chosen point. The
  /// file keeps them.
  std::size_t count_outside() const { return tuning.outside.size() + test.outside.size(); }
};

/// Runs the rest of the protocol, sweep.parallel points at the same time, and rewrites the file after each. A killed
/// comparison resumes to the same content. UserError before the first run for everything that is wrong with any run.
/// With a shard, runs its points of the tuning. If the resumed file holds the whole tuning (merge_sweeps), runs its
/// points of the test runs.
Comparison run_compare(const ConfigSource& source, const SweepFiles& files, const SweepObserver& observer = {});

/// Drops runs outside a comparison, as drop_outside() does for a sweep. Test runs at another point than the tuning of
/// the config chooses are outside too. UserError besides: the tuning is not complete.
Comparison drop_outside_compare(const ConfigSource& source, const SweepFiles& files, Drop drop);

/// Estimates the cost of run_compare() with the same arguments. It counts all of the tuning, and the test runs as if
/// every method chose the first point of the grid. With a shard, its share of both.
StudyEstimate estimate_compare(const ConfigSource& source, const SweepFiles& files,
                               const std::function<bool(std::size_t, std::size_t)>& watch = {});

/// Writes the table /entrants; `metric` and `holds` come from the Comparison.
void write_entrants(H5Document& document, const std::vector<ComparedEntrant>& entrants, const std::string& metric,
                    const std::string& holds);

/// HDF5 file of a comparison, rewritten as a whole. It has /tuning and /test with a row per finished run, /entrants
/// with the result, and /text. docs/reference/files.md lists them.
class CompareFile {
 public:
  CompareFile(const SweepFiles& files, const Config& base);

  /// Throws UserError unless the file is a comparison of the same config; only values of the grid, seeds, threads and
  /// output keys may differ.
  void expect_same_config(const Config& base, const std::vector<std::string>& keys);

  void restore(const std::string& group, Sweep& sweep, Stored stored) const;

  void write(const Comparison& comparison);

  /// Size in bytes that write() would give the file.
  std::size_t bytes(const Comparison& comparison) const;

 private:
  H5Document document(const Comparison& comparison) const;

  SweepFiles files_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds spent before by the resumed comparison
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Protocol of a comparison: grid, methods and seeds.
struct CompareProtocol {
  Config base;
  std::vector<GridAxis> axes;
  std::vector<Entrant> entrants;
  std::vector<std::int64_t> tuning_seeds, test_seeds;
  /// Combinations of the grid that are separate runs, for each method: keys that it does not read are left out.
  std::vector<std::vector<Combination>> combinations;
  std::string equal = {};  ///< steps and energies of the methods where these are equal; empty: the steps are

  /// True if there is anything to choose from.
  bool tunes() const;
  /// Number of tuning runs, of all methods with all tuning seeds; 0: nothing is tuned.
  std::size_t tuning_runs() const;
};

/// Reads compare.* of a config. UserError that starts with `name`: no grid, methods or seeds, no test split, or a key
/// of the grid that no method reads.
CompareProtocol read_protocol(const Config& config, const std::string& name);

/// Source of a comparison. For samples, puts data.split_seed = "seed" before its own settings, unless the file or a
/// setting names the key. So every seed trains and chooses on splits of its own, the same for all methods. The test
/// split is one for all seeds (data.test_seed), so that no tuning run sees it.
ConfigSource compare_source(const ConfigSource& source);

/// Sentence on what the interval of a paired difference covers: seeds, and splits of the samples if they are drawn from
/// the seed. It also says of how many differences the interval holds at once.
std::string intervals_hold(const Config& config);

/// Table of runs without points. Its columns are the method and the tuned keys; `tests` adds the metrics of the test
/// split.
enum class CompareStage { tuning, tests };
Sweep empty_table(const CompareProtocol& protocol, CompareStage stage);

/// Entrants with their choice() of a finished tuning. `tuning` has all points in the order methods × combinations ×
/// seeds; it is empty where the grid is one point.
std::vector<ComparedEntrant> chosen_entrants(const CompareProtocol& protocol, const Sweep& tuning);

/// Sets counts, means and differences of each method from the test runs in `test`.
void summarise(const CompareProtocol& protocol, const Sweep& test, std::vector<ComparedEntrant>& entrants);

}  // namespace nudge
