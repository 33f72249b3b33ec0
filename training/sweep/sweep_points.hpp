// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "training/sweep/sweep_grid.hpp"

namespace nudge {

/// What a point does. Only `train_and_test` reads the test part; test_metrics() are then the last ones.
enum class PointJob { train, train_and_test, gradcheck, stability };

/// What sweep.run says.
PointJob sweep_job(const Config& base);

/// How many points run at the same time in this process: sweep.parallel, or threads, or one where MPI started several.
int sweep_threads(const Config& base);

/// Runs the points of a sweep whose status is empty and which belong to its shard, on the threads of all ranks (farm.hpp);
/// results do not depend on them. `grid` has their configs. On rank 0 `store` is called as points end, so often that no more
/// than a twentieth of the time goes into it, and at the end. `sweep` is then the same on all ranks. Of a training that has not ended a
/// run file stands beside files.output (KeptRun), by the name of the point.
void run_points(const SweepFiles& files, const SweepGrid& grid, PointJob job, const SweepObserver& observer,
                const std::function<void()>& store, Sweep& sweep);

}  // namespace nudge
