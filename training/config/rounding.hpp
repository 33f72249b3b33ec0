// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace nudge {

/// Relative error that rounding leaves in the gradient of a nudge of this beta: 2.5 u/beta. u is the distance from 1 to the next
/// number of the precision. Measured in float as (1..5)e-7/beta = (0.8..4.2) u/beta (docs/reference/estimators.md). In double both
/// states round alike.
double rounding_error(const std::string& precision, double beta);

/// Warning if rounding makes more than a tenth of the gradient of the config's beta; empty: it does not.
std::string rounding_warning(const Config& config);

/// Advice if a gradient is not finite or no step was accepted: a nudge that rounding undoes needs a larger beta.
std::string beta_advice(const Config& config);

/// Rule that refuses a beta whose gradient is rounding alone, unless nudge.below_rounding allows it.
ConfigRule beta_above_rounding();

}  // namespace nudge
