// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/batch/batch_gradient.hpp"

namespace nudge {

/// Sums up a batch over its sequences, without its reads. `coupled`: NetworkPlan::couples_rows; `energy`: of each
/// sequence; `slots`: turns in which tokens share the arrays.
BatchReport summarise(const Batch& batch, bool coupled, std::vector<SequenceReport> sequences,
                      const std::vector<GrowthReport>& growth, const std::vector<double>& energy, Index slots);

}  // namespace nudge
