// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/sweep/sweep_points.hpp"

namespace nudge {

/// Kind of points that take about the same time. They have equal values of every swept key that is no real number, and
/// real numbers that are zero alike (zero switches a thing off).
struct PointKind {
  std::string name;          ///< "model.heads = 2, device.read_noise not 0"
  std::size_t points = 0;    ///< number of points that are left to run
  double seconds = 0;        ///< duration of one point alone
  double bytes = 0;          ///< peak memory of one point, beside the program's; NaN where the system does not tell
  std::string problem = {};  ///< reason why the short run failed; its points are then taken to need nothing
};

/// Text of a value of an axis: "train.steps = 200". Of an axis that is no key of a config, as the methods of a comparison, the value
/// alone.
std::string axis_text(const std::string& key, const std::string& value);

/// Estimate of the time and memory that a study will take.
struct StudyEstimate {
  std::size_t points = 0, left = 0, invalid = 0;
  std::vector<PointKind> kinds;
  int at_once = 1;        ///< points that run at the same time
  double seconds = 0;     ///< time until all remaining points have ended, the longest first
  double bytes = 0;       ///< memory of the process while at_once of the largest points run; NaN where not known
  double file_bytes = 0;  ///< size of the finished file; twice that while it is rewritten
  bool interrupted = false;
};

/// Measures a short run of the first point of each kind: a few steps. Their time is told apart from the time of set-up,
/// evaluations and comparisons, which are then counted as the config says. A gradient check is run whole. Nothing is
/// written. `file_bytes` gives the size of the file of a sweep. `watch` is called before each kind with the number of
/// kinds measured and the number of all kinds; it returns false to stop.
StudyEstimate estimate_points(const SweepGrid& grid, PointJob job,
                              const std::function<double(const Sweep&)>& file_bytes,
                              const std::function<bool(std::size_t, std::size_t)>& watch = {});

/// Estimates run_sweep() with the same arguments.
StudyEstimate estimate_sweep(const ConfigSource& source, const SweepFiles& files,
                             const std::function<bool(std::size_t, std::size_t)>& watch = {});

}  // namespace nudge
