// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/data/reference_scores.hpp"

namespace nudge {

/// "97.22 %" of an accuracy, "0.1234" of an rmse, a dash where it is not finite.
std::string score_text(const std::string& metric, double value);

/// A difference of two of them: "+1.39" percentage points, "-0.0021".
std::string score_difference_text(const std::string& metric, double value);

/// "trivial models on the test part: chance 10.00 %, majority 10.31 %, linear 96.66 %", of the validation part too.
std::string references_text(const ReferenceScores& references);

/// "references: 3.4 s beside the run; linear: 57000 samples, ridge 0.001, about 1e-04 nat above its least loss".
std::string reference_work_text(const ReferenceScores& references);

/// Whether a score on a part is no better than that of the linear model; false where there is none.
bool not_above_linear(const ReferenceScores& references, const std::string& part, double value);
constexpr const char* kLinearNote = "!: no better than a linear model of the same samples";

}  // namespace nudge
