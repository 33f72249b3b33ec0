// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/config.hpp"
#include "sim/equilibrium.hpp"
#include "training/batch/batch_gradient.hpp"
#include "training/data/batches.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Visits after which a sample that goes on from its last state (relaxation.persistent_states) is judged.
inline constexpr int judged_visits = 20;

/// Makes the free phase of samples that go on from their last states as long as those of so many visits; no memory is needed then.
void as_visited(BatchGradientOptions& options);

/// Judges the free phases of a network, an exact_copy(), on the first of a batch: eight samples or more, or four sequences.
/// `phase`: the free phase as the run has it, with its step and amplifiers. It runs without noise, whose floor under the
/// residual is no fault of the phase; of samples that go on from their last states (relaxation.persistent_states) as if
/// each had been there twenty times. No verdict where states are means over a bath.
Equilibrium judge_free_phase(const Config& config, const Network<double>& network, const SettleOptions& phase,
                             const Batch& batch);

}  // namespace nudge
