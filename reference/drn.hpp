// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/case_kind.hpp"

namespace nudge {

/// The deep resistive network of the cases' NETWORKS.md, section 2. NumericalFailure naming the file where a phase has no
/// steady state.
std::vector<CaseDataset> compute_drn(const H5Reader& file);

}  // namespace nudge
