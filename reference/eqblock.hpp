// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/case_kind.hpp"

namespace nudge {

/// The equilibrium block's reference case (kind "eqblock"): values at a test point, the free phase, every estimator's
/// states, adjoint and gradient, as the cases' README defines them; `beta` multiplies the mean cost as it stands.
std::vector<CaseDataset> compute_eqblock(const H5Reader& file);

}  // namespace nudge
