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

/// The place in the grid that an entrant is reported at.
struct Choice {
  Combination combination;  ///< settings
  std::vector<std::string>
      values;  ///< of the keys of the grid, as the config prints them; empty: the entrant does not read it
  std::vector<std::string>
      edges;                   ///< numeric keys whose chosen value is the smallest or largest of several: extend them
  double validation_loss = 0;  ///< mean over the tuning seeds; NaN where nothing was tuned
};

/// The combination with the smallest mean validation loss over the tuning seeds. One in which a run failed is not chosen;
/// nothing when that leaves none. Equal losses: the first. `tuning` holds the points of an entrant in the order
/// combinations × seeds; empty where nothing is tuned, the first combination is then the choice.
std::optional<Choice> choose(const std::vector<GridAxis>& axes, const std::vector<Combination>& combinations,
                             const std::vector<SweepPoint>& tuning, const std::vector<SweepMetric>& metrics);

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

/// The table /entrants; `metric`, `holds`: of the Comparison.
void write_entrants(H5Document& document, const std::vector<ComparedEntrant>& entrants, const std::string& metric,
                    const std::string& holds);

/// The HDF5 file of a comparison, rewritten as a whole: /tuning and /test with a row per finished run, /entrants with the
/// result, /text. docs/file_format.md lists them.
class CompareFile {
 public:
  CompareFile(const SweepFiles& files, const Config& base);

  /// UserError unless the file is a comparison of the same config; only values of the grid, seeds, threads and output keys may
  /// differ.
  void expect_same_config(const Config& base, const std::vector<std::string>& keys);

  void restore(const std::string& group, Sweep& sweep, Stored stored) const;

  void write(const Comparison& comparison);

  /// The size that write() would give the file.
  std::size_t bytes(const Comparison& comparison) const;

 private:
  H5Document document(const Comparison& comparison) const;

  SweepFiles files_;
  RunRecord record_;
  Overwrite overwrite_;
  double earlier_ = 0;  ///< seconds of the comparison that is resumed
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// What a comparison goes by.
struct CompareProtocol {
  Config base;
  std::vector<GridAxis> axes;
  std::vector<Entrant> entrants;
  std::vector<std::int64_t> tuning_seeds, test_seeds;
  /// Of each entrant, the combinations of the grid that are runs of their own: keys that it does not read are left out.
  std::vector<std::vector<Combination>> combinations;

  /// Whether there is anything to choose from.
  bool tunes() const;
  /// Runs of the tuning, of all entrants with all tuning seeds; 0: nothing is tuned.
  std::size_t tuning_runs() const;
};

/// compare.* of a config. UserError that starts with `name`: no grid, entrants or seeds, no test part, or a key of the grid that no entrant reads.
CompareProtocol read_protocol(const Config& config, const std::string& name);

/// The source of a comparison: of samples, data.split_seed = "seed" comes before its own settings, unless the file or one of them names
/// the key. So every seed has parts of its own, the same for all entrants.
ConfigSource compare_source(const ConfigSource& source);

/// What the interval of a paired difference holds, a sentence: seeds, and parts of the samples where they are drawn from the seed.
std::string intervals_hold(const Config& config);

/// A table of runs without points: its columns are the entrant and the tuned keys; `tests` adds the metrics of the test part.
enum class CompareStage { tuning, tests };
Sweep empty_table(const CompareProtocol& protocol, CompareStage stage);

/// Every entrant at its choice() of a tuning that has ended: all points of it, in the order entrants × combinations × seeds; empty
/// where the grid is one place.
std::vector<ComparedEntrant> chosen_entrants(const CompareProtocol& protocol, const Sweep& tuning);

/// Counts, means and differences of the test runs there are, for each of the entrants.
void summarise(const CompareProtocol& protocol, const Sweep& test, std::vector<ComparedEntrant>& entrants);

}  // namespace nudge
