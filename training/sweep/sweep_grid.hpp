// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "training/config/combinations.hpp"
#include "training/data/task.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {

/// The points of a sweep before it runs. Their configs are made when they are asked for: 5000 of them would take half a
/// gigabyte.
struct SweepGrid {
  Config base;
  ConfigSource source = {};
  std::vector<std::vector<std::string>> settings = {};  ///< per point, behind those of the source
  Sweep sweep = {};
  std::optional<Config> measured = {};  ///< of a point with the samples that all points share

  /// The whole config of a point: threads = 1, its values and its seed.
  Config config(std::size_t point) const;
};

/// What trivial models score on the samples that all points share, a mean over their splits; nothing where they share none, and on other ranks than the first. To be
/// called when the points have ended: it reads the data again and fits (train_run.hpp). Nothing either where the observer stops.
std::optional<ReferenceScores> study_references(const SweepGrid& grid, const SweepObserver& observer);

/// Whether the values of a key of the config are numbers.
bool is_numeric_key(const std::string& key);

/// UserError when there is no axis, or one that cannot be swept. `section`: "sweep.grid".
void check_axes(const std::string& name, const std::string& section, const std::vector<GridAxis>& axes);

/// Where train.cosine_every = 0: compare the gradient at the first and the last step all the same, or do not.
enum class EndCosine { measured, as_configured };

/// What becomes of a combination that breaks a rule.
enum class Invalid { refuse, skip };

/// Fills a grid with checked points. What is wrong is collected; finish() throws it all as one UserError.
class GridBuilder {
 public:
  /// Sets the grid's source.
  GridBuilder(const ConfigSource& source, EndCosine end_cosine, SweepGrid& grid, Invalid invalid = Invalid::refuse);

  /// A point per seed: the source with `settings` behind its own. `labels`: values of the first keys, which are not keys
  /// of the config.
  void add(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
           const std::vector<std::int64_t>& seeds);

  /// Also throws when no combination can be run.
  void finish();

 private:
  void check(const Config& config);
  void add_invalid(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
                   const std::vector<std::int64_t>& seeds, const std::string& why);

  /// What is wrong, at which combination first, and at how many others.
  struct Problem {
    std::string what, where;
    int others = 0;
  };

  const ConfigSource& source_;
  EndCosine end_cosine_;
  Invalid invalid_;
  SweepGrid& grid_;
  bool any_ = false;  ///< a combination that can be run
  std::vector<Problem> problems_;
  std::set<std::string> texts_, splits_;      ///< seen so far
  std::map<std::string, TaskSizes> samples_;  ///< by their data.* keys
};

/// Expands sweep.grid by sweep.mode × sweep.seeds and checks every combination: config rules, device, text. Throws one
/// UserError with every distinct problem, before anything runs, unless sweep.invalid = skip; also when there is nothing to
/// sweep.
SweepGrid make_sweep_grid(const ConfigSource& source);

}  // namespace nudge
