// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/data/batches.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// What the first sequence of a batch whose free phase found no state falls over when a system that solves itself (Direct) solves it alone,
/// without noise, by the names of its parts (TellsFailure). Empty: every sequence has a state, or it says nothing.
std::string why_unsolved(const Network<double>& network, const Batch& batch,
                         const std::vector<SequenceReport>& reports);

}  // namespace nudge
