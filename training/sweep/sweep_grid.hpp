// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "training/config/combinations.hpp"
#include "training/config/set_by.hpp"
#include "training/data/task.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {

/// Points of a sweep before it runs. A config is made when asked for: 5000 configs would take half a gigabyte.
struct SweepGrid {
  Config base;
  ConfigSource source = {};
  std::vector<std::vector<std::string>> settings = {};  ///< settings of each point, behind the settings of the source
  Sweep sweep = {};
  std::optional<Config> measured = {};  ///< config of a point with the samples that all points share

  /// Returns the whole config of a point: threads = 1, its values and its seed.
  Config config(std::size_t point) const;
};

/// Scores of trivial models on the samples that all points share, a mean over their splits. Call it when the points
/// have ended: it reads the data again and fits (train_run.hpp). Nothing where the points share no samples, on ranks
/// other than the first, and where the observer stops.
std::optional<ReferenceScores> study_references(const SweepGrid& grid, const SweepObserver& observer);

/// Values that the user did not set (given_values) and that are the same in every run of a study. Its runs have every value of each axis,
/// beside the first values of the others, and every method of a comparison. Runs that break a rule are left out.
std::vector<GivenValue> study_given(const ConfigSource& source);

/// True if the values of a key of the config are numbers.
bool is_numeric_key(const std::string& key);

/// Throws UserError when there is no axis, or one that cannot be swept. `section`: "sweep.grid".
void check_axes(const std::string& name, const std::string& section, const std::vector<GridAxis>& axes);

/// Choice for train.cosine_every = 0: compare the gradient at the first and the last step all the same, or do not.
enum class EndCosine { measured, as_configured };

/// Treatment of a combination that breaks a rule.
enum class Invalid { refuse, skip };

/// Fills a grid with checked points. Errors are collected; finish() throws them all as one UserError.
class GridBuilder {
 public:
  /// Sets the grid's source.
  GridBuilder(const ConfigSource& source, EndCosine end_cosine, SweepGrid& grid, Invalid invalid = Invalid::refuse);

  /// Adds a point per seed: the source with `settings` behind its own. `labels`: values of the first keys, which are
  /// not keys of the config.
  void add(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
           const std::vector<std::int64_t>& seeds);

  /// Throws UserError with all errors, also when no combination can be run.
  void finish();

 private:
  void check(const Config& config);
  void add_invalid(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
                   const std::vector<std::int64_t>& seeds, const std::string& why);

  /// Error text, first combination with the error, and number of the others.
  struct Problem {
    std::string what, where;
    int others = 0;
  };

  const ConfigSource& source_;
  EndCosine end_cosine_;
  Invalid invalid_;
  SweepGrid& grid_;
  bool any_ = false;  ///< true if a combination can be run
  std::vector<Problem> problems_;
  std::set<std::string> splits_;            ///< splits seen so far
  std::map<std::string, TaskSizes> sizes_;  ///< sizes of the data by the keys that choose them
};

/// Expands sweep.grid by sweep.mode × sweep.seeds and checks every combination: config rules, device, text. Throws one
/// UserError with every distinct problem, before anything runs, unless sweep.invalid = skip; also when there is nothing to
/// sweep.
SweepGrid make_sweep_grid(const ConfigSource& source);

}  // namespace nudge
