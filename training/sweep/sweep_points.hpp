// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/check/chip_yield.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"
#include "training/train/train_run.hpp"

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

/// Metrics of sweep.run, train, gradcheck or stability: of its task (TaskKind::metric) and of its network (network_measures()); cosine is that of all
/// parameters of the equilibrium as one vector, in both.
std::vector<SweepMetric> sweep_metrics(const std::string& run, const Config& base);

/// What a run that reads the test part is measured by besides: test_loss, and test_<score>; of an accuracy test_samples.
std::vector<SweepMetric> test_metrics(const Config& base);

/// The values of these metrics of a run; NaN of what it has not, as of the measures of another network.
std::vector<double> train_results(const TrainSummary& summary, const std::vector<SweepMetric>& metrics);

/// The values of sweep_metrics("gradcheck", …) of an estimator. It must be in the report.
std::vector<double> gradcheck_results(const GradcheckReport& report, const std::string& estimator);

/// The values of sweep_metrics("stability", …) of the first chip.
std::vector<double> stability_results(const ChipYield& found);

}  // namespace nudge
