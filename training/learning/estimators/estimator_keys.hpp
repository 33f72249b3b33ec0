// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// Section of the keys that estimators read: beta, and parts of [nudge] and [relaxation]. The free phase has its keys elsewhere
/// (training/config/phase_options.hpp). EstimatorKind::keys says which estimator reads which key.
const Section<EstimatorOptions>& estimator_section();

}  // namespace nudge
