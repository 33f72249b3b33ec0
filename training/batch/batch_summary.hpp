// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/batch/batch_gradient.hpp"

namespace nudge {

/// What a batch comes to over its sequences, without its reads. `coupled`: NetworkPlan::couples_rows; energies are those of the sequences;
/// `slots`: those in which tokens take turns.
BatchReport summarise(const Batch& batch, bool coupled, std::vector<SequenceReport> sequences,
                      const std::vector<GrowthReport>& growth, const std::vector<double>& energy, Index slots);

}  // namespace nudge
