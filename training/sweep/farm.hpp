// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "training/sweep/sweep.hpp"

namespace nudge {

/// The points of a study that are left to run, and the order in which threads and processes take them: those whose
/// combination of values was not timed yet, as they stand in the list; then the longest first, so that none of them ends
/// long after all others. Results do not depend on the order.
class TaskList {
 public:
  /// Every point without a status that belongs to the shard. SweepPoint::seconds of others are known times.
  TaskList(const Sweep& sweep, const Shard& shard);

  std::size_t left() const { return left_.size(); }

  /// Takes a point off the list; nothing: all are taken.
  std::optional<std::size_t> next();

  /// Says how long a point took.
  void finished(std::size_t point, double seconds);

 private:
  std::vector<std::size_t> left_;
  std::vector<std::size_t> kinds_;  ///< per point of the study: its combination
  std::vector<double> seconds_;     ///< per combination, the last one timed; infinite before
};

/// The work of a farm. Threads of this process call `compute`, on rank 0 one at a time `accept`.
struct FarmWork {
  int threads = 1;                   ///< points that run at the same time in this process
  std::function<bool()> go_on = {};  ///< false: a signal came to this process
  /// Runs a point; its status stays empty when go_on said no on the way.
  std::function<SweepPoint(std::size_t at, const std::function<bool()>& go_on)> compute = {};
  /// Takes status, metrics, groups and seconds: all that comes from another rank.
  std::function<void(std::size_t at, const SweepPoint& result)> accept = {};
};

/// Runs all points of the list on the threads of this process and of every other rank that MPI started (sim/base/ranks.hpp).
/// Rank 0 keeps the list and hands a point to whoever asks for one, its own threads included; it alone accepts results. All
/// ranks call it with the same work; the list of the others is not used.
void farm_out(TaskList& tasks, const FarmWork& work);

/// The results of all points of rank 0 become everybody's.
void share_results(Sweep& sweep);

/// The result of a point (status, metrics, groups, seconds) as bytes for another process of the same build, bit by bit.
std::string result_bytes(const SweepPoint& point);

/// Takes what result_bytes() made from the front of `bytes`, and removes it there.
void take_result(std::string& bytes, SweepPoint& point);

}  // namespace nudge
