// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace nudge {

/// Progress of the work of a file.
struct RunState {
  std::string kind;  ///< kind of the file (attribute)
  std::string unit;  ///< unit of the work: "steps", "points", "runs"
  std::size_t done = 0, total = 0;
  std::size_t failed = 0;                               ///< number of done that did not end well
  double seconds = 0;                                   ///< seconds of work, as the file says
  std::vector<std::pair<std::string, double>> numbers;  ///< last losses of a training; smallest ones of a list of runs
  bool complete() const { return done >= total; }
};

/// Reads a file of kind train, sweep or compare. UserError for other files.
RunState read_run_state(const std::filesystem::path& path);

}  // namespace nudge
