// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/data/task.hpp"

namespace nudge {

/// forecasting: an example is a window of model.tokens patches of series.patch values of one variable, the last series.horizon of which
/// are unknown. Variables are standardised by their training part; a window is taken relative to the last value that is known (Zeng et al., "Are
/// transformers effective for time series forecasting?", NLinear, arXiv:2205.13504):
///     row t of the features   x_{tP}, ..., x_{tP+P−1} less that value, and 0; of an unknown patch zeros, and 1
///     row t of the values     the same of an unknown patch; other rows do not count
/// The parts follow one another in time: training, validation, test. A forecast belongs to the part that its values are in; what is known before
/// may reach into the part before, as is customary.
std::unique_ptr<Task> forecasting_task(const Config& config);

/// UserError where no row of a window is known.
void check_forecasting_task(const Config& config);

}  // namespace nudge
