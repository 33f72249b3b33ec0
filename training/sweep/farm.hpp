// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/sweep/sweep.hpp"

namespace nudge {

/// List of a study's points that are still to run, in the order in which threads and processes take them. Points whose
/// combination of values was not timed yet come first, in their order. Then the longest come first, so that no point
/// ends long after all others. Results do not depend on the order.
class TaskList {
 public:
  /// Lists every point of the shard without a status. SweepPoint::seconds of the other points are known times.
  TaskList(const Sweep& sweep, const Shard& shard);

  std::size_t left() const { return left_.size(); }

  /// Takes a point off the list; nothing: all are taken.
  std::optional<std::size_t> next();

  /// Records the duration of a point.
  void finished(std::size_t point, double seconds);

 private:
  std::vector<std::size_t> left_;
  std::vector<std::size_t> kinds_;  ///< combination of each point of the study
  std::vector<double> seconds_;     ///< last duration of each combination; infinite before
};

/// Work of a farm. Threads of this process call `compute`, and on rank 0, one at a time, `accept`.
struct FarmWork {
  int threads = 1;                   ///< points that run at the same time in this process
  std::function<bool()> go_on = {};  ///< returns false when a signal came to this process
  /// Runs a point; its status stays empty if go_on returned false on the way.
  std::function<SweepPoint(std::size_t at, const std::function<bool()>& go_on)> compute = {};
  /// Takes status, metrics, groups and seconds: all that comes from another rank.
  std::function<void(std::size_t at, const SweepPoint& result)> accept = {};
};

/// Runs all points of the list on the threads of this process and of every other rank that MPI started (sim/base/ranks.hpp).
/// Rank 0 keeps the list and hands a point to whoever asks for one, its own threads included; it alone accepts results. All
/// ranks call it with the same work; the list of the others is not used.
void farm_out(TaskList& tasks, const FarmWork& work);

/// Copies the results of all points from rank 0 to all ranks.
void share_results(Sweep& sweep);

/// Converts the result of a point (status, metrics, groups, seconds) to bytes for another process of the same build,
/// bit by bit.
std::string result_bytes(const SweepPoint& point);

/// Reads a result, made by result_bytes(), from the front of `bytes`, and removes it there.
void take_result(std::string& bytes, SweepPoint& point);

}  // namespace nudge
