// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/check/chip_yield.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"
#include "training/train/train_run.hpp"

namespace nudge {

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
