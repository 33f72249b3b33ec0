// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// What estimators read of beta, [nudge] and [relaxation]; the free phase has its keys elsewhere (training/config/phase_options.hpp). Which
/// estimator reads which of them stands in its kind (EstimatorKind::keys).
const Section<EstimatorOptions>& estimator_section();

}  // namespace nudge
