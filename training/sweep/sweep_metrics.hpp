// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/gradcheck/gradcheck.hpp"
#include "training/sweep/sweep.hpp"
#include "training/train/train_run.hpp"

namespace nudge {

/// Metrics of sweep.run, train or gradcheck, of a task of that score (TaskKind::metric); cosine is that of all parameters of the
/// equilibrium as one vector, in both.
std::vector<SweepMetric> sweep_metrics(const std::string& run, const std::string& score);

/// What a run that reads the test part is measured by besides: test_loss, and test_<score>; of an accuracy test_samples.
std::vector<SweepMetric> test_metrics(const std::string& score);

/// The values of sweep_metrics("train", …) of a run, and of test_metrics() behind them.
std::vector<double> train_results(const TrainSummary& summary, FinalTest test);

/// The values of sweep_metrics("gradcheck", …) of an estimator. It must be in the report.
std::vector<double> gradcheck_results(const GradcheckReport& report, const std::string& estimator);

}  // namespace nudge
