// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/check/stability.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"
#include "training/train/train_run.hpp"

namespace nudge {

/// Job of a point. Only `train_and_test` reads the test split; test_metrics() are then the last metrics.
enum class PointJob { train, train_and_test, gradcheck, stability };

/// Job that sweep.run names.
PointJob sweep_job(const Config& base);

/// Number of points that run at the same time in this process: sweep.parallel, or threads, or one where MPI started
/// several.
int sweep_threads(const Config& base);

/// Runs the points of a sweep whose status is empty and which belong to its shard. It uses the threads of all ranks
/// (farm.hpp); results do not depend on them. `grid` has their configs. Rank 0 calls `store` as points end, using at
/// most a twentieth of the time, and at the end. `sweep` is then the same on all ranks. A training that has not ended
/// has a run file beside files.output (KeptRun), named after its point.
void run_points(const SweepFiles& files, const SweepGrid& grid, PointJob job, const SweepObserver& observer,
                const std::function<void()>& store, Sweep& sweep);

/// Metrics of sweep.run, train, gradcheck or stability, from its task (TaskKind::metric) and its network (network_measures()). In both, cosine is
/// taken of all parameters of the equilibrium as one vector.
std::vector<Measure> sweep_metrics(const std::string& run, const Config& base);

/// Metrics of a run that reads the test split, beside sweep_metrics(): test_loss, and test_<score>; of an accuracy test_samples.
std::vector<Measure> test_metrics(const Config& base);

/// Values of these metrics for a run; NaN for metrics that it does not have, such as the measures of another network.
std::vector<double> train_results(const TrainSummary& summary, const std::vector<Measure>& metrics);

/// Values of sweep_metrics("gradcheck", …) for an estimator, which must be in the report.
std::vector<double> gradcheck_results(const GradcheckReport& report, const std::string& estimator);

/// Values of sweep_metrics("stability", …) for the first chip.
std::vector<double> stability_results(const ChipYield& found);

}  // namespace nudge
