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

/// Gives samples that go on from their last states a free phase as long as so many visits together. No memory is needed then.
void as_visited(BatchGradientOptions& options);

/// Judges the free phases of a network, an exact_copy(), on the first of a batch: eight samples or more, or four sequences.
/// `phase`: the free phase as the run has it, with its step and amplifiers. It runs without noise: the floor of noise under
/// the residual is no fault of the phase. Samples that go on from their last states (relaxation.persistent_states) run as
/// if each had been visited twenty times. No verdict where states are means over a bath.
Equilibrium judge_free_phase(const Config& config, const Network<double>& network, const SettleOptions& phase,
                             const Batch& batch);

}  // namespace nudge
