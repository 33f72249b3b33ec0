// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "training/sweep/task_list.hpp"

namespace nudge {

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

}  // namespace nudge
