// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/batch/batch_gradient.hpp"
#include "training/config/run_parts.hpp"

namespace nudge {

/// What a circuit is set to once, by what the first batch asks of it, before a run begins:
///     crossbar.*_range     crossbar.headroom times the largest value at the converters of that kind, of all arrays, where they have bits,
///                          no range and crossbar.ranging = once;
///     circuit.turn_slots   slots of the busiest array in a step of settling, where tokens take turns and holds leak.
/// Whether any of it is open in this config.
bool leaves_circuit_open(const Config& config);

/// The config with these keys set by a network and a batch, at the nudge and with the estimator of the config; unchanged where none is open.
template <class S>
Config chosen_circuit(const Config& config, const Network<S>& network, const Batch& batch);

/// The same for the network and first batch of a run, which are made for it.
Config chosen_circuit(const Config& config, const RunParts& parts);

/// What a run has settled before its first step, this, its beta and its average, taken from its file where the given config leaves it open.
Config settled_as(const Config& stored, Config given);

}  // namespace nudge
