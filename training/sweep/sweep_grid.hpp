// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "training/data/task.hpp"
#include "training/sweep/sweep.hpp"

namespace nudge {

/// The points of a sweep before it runs, each with its whole config.
struct SweepGrid {
  Config base;
  std::vector<Config> configs;  ///< one per point: threads = 1, the values and the seed of the point
  Sweep sweep;
};

/// Which value of each axis a point takes, as settings ("device.read_noise=1 %").
using Combination = std::vector<std::string>;

/// Whether the values of a key of the config are numbers.
bool is_numeric_key(const std::string& key);

/// Every combination; the last axis varies fastest.
std::vector<Combination> all_combinations(const std::vector<GridAxis>& axes);

/// UserError when there is no axis, or one that cannot be swept. `section`: "sweep.grid".
void check_axes(const std::string& name, const std::string& section, const std::vector<GridAxis>& axes);

/// Where train.cosine_every = 0: compare the gradient at the first and the last step all the same, or do not.
enum class EndCosine { measured, as_configured };

/// Fills a grid with checked points. What is wrong is collected; finish() throws it all as one UserError.
class GridBuilder {
 public:
  GridBuilder(const ConfigSource& source, EndCosine end_cosine, SweepGrid& grid);

  /// A point per seed: the source with `settings` behind its own. `labels`: values of the first keys, which are not keys
  /// of the config.
  void add(const std::vector<std::string>& settings, const std::vector<std::string>& labels,
           const std::vector<std::int64_t>& seeds);
  void finish();

 private:
  void check(const Config& config);

  const ConfigSource& source_;
  EndCosine end_cosine_;
  SweepGrid& grid_;
  std::vector<std::string> problems_;
  std::set<std::string> texts_, splits_;      ///< seen so far
  std::map<std::string, TaskSizes> samples_;  ///< by their data.* keys
};

/// Expands sweep.grid × sweep.seeds and checks every point: config rules, device, text. Throws one UserError with every
/// distinct problem, before anything runs; also when there is nothing to sweep.
SweepGrid make_sweep_grid(const ConfigSource& source);

}  // namespace nudge
