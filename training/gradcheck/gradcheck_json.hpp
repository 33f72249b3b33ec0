// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "training/gradcheck/gradcheck.hpp"

namespace nudge {

/// {"rows": [one per estimator and group], "diagnostics": {…}, "finite": …}, as training/data/scores_json.hpp.
nlohmann::json json_of(const GradcheckReport& report);

}  // namespace nudge
