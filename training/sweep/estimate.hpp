// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/sweep/sweep_points.hpp"

namespace nudge {

/// Points that take about the same time: equal values of every swept key that is no real number, and real numbers that are
/// zero alike (zero switches a thing off).
struct PointKind {
  std::string name;        ///< "model.heads = 2, device.read_noise not 0"
  std::size_t points = 0;  ///< that are left to run
  double seconds = 0;      ///< of one of them alone
  double bytes = 0;  ///< memory that one needs at its peak, beside the program's; NaN where the system does not tell
  std::string problem = {};  ///< why the short run failed: its points are taken to need nothing
};

/// What a study will take.
struct StudyEstimate {
  std::size_t points = 0, left = 0, invalid = 0;
  std::vector<PointKind> kinds;
  int at_once = 1;        ///< points that run at the same time
  double seconds = 0;     ///< until all that are left have ended, the longest first
  double bytes = 0;       ///< of the process, at_once of the largest points running; NaN where not known
  double file_bytes = 0;  ///< the finished file; twice that while it is rewritten
  bool interrupted = false;
};

/// Measures a short run of the first point of each kind: a few steps whose time is told apart from that of set-up,
/// evaluations and comparisons, which are then counted as the config says; a gradient check is run whole. Nothing is
/// written. `file_bytes` gives the size of the file of a sweep. `watch` is called with the number of kinds measured and of
/// all kinds before each and returns false to stop.
StudyEstimate estimate_points(const SweepGrid& grid, PointJob job,
                              const std::function<double(const Sweep&)>& file_bytes,
                              const std::function<bool(std::size_t, std::size_t)>& watch = {});

/// Of run_sweep() with the same arguments.
StudyEstimate estimate_sweep(const ConfigSource& source, const SweepFiles& files,
                             const std::function<bool(std::size_t, std::size_t)>& watch = {});

}  // namespace nudge
