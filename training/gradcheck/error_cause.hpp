// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/config/run_parts.hpp"

namespace nudge {

/// Part of the circuit without which an estimator's gradient comes nearest to the exact one, with the cosine that it then has: "noise of reads:
/// 0.999 without". Measured by switching each part off (forecast_gradient) on the first batch at the first weights. `beta`: as
/// the check used it; 0: none. Empty: exact numbers, a network that is too large for the look, or no part that helps.
std::string error_cause(const Config& config, const RunParts& run, const std::string& estimator, double beta);

}  // namespace nudge
