// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "training/sweep/sweep.hpp"

namespace nudge {

/// What a point does. Only `train_and_test` reads the test part; test_metrics() are then the last ones.
enum class PointJob { train, train_and_test, gradcheck };

/// How many points run at the same time: sweep.parallel, or threads.
int sweep_threads(const Config& base);

/// Runs the points of a sweep whose status is empty, configs[i] on one thread each, `threads` of them at the same time;
/// results do not depend on that number. `store` is called after each point.
void run_points(const std::vector<Config>& configs, int threads, PointJob job, const SweepObserver& observer,
                const std::function<void()>& store, Sweep& sweep);

}  // namespace nudge
