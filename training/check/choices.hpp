// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

/// A nudge and how it stands against the noise of the nodes that it moves, measured on one batch.
struct NudgeChoice {
  double beta = 0;
  NudgeSignal signal = {};
  double ratio = 0;            ///< displacement over the root mean square of z*, noise taken off
  int steps = 0, average = 0;  ///< of a nudged phase, and how many of its last states are averaged; 0: as configured

  /// Whether the network has noise and the estimator a nudge.
  bool measured() const { return signal.known(); }
};

/// The largest displacement, over the root mean square of z*, with which the phases of an estimator are still about linear: what an
/// automatic beta is kept below (docs/estimators.md).
double largest_nudge(const Config& config, const std::string& estimator);

/// The nudge of `options` on a batch.
template <class S>
NudgeChoice measured_nudge(const Network<S>& network, BatchGradientOptions options, const Batch& batch);

/// beta where it is set. auto on physical hardware: the smallest from default_beta on with a signal-to-noise ratio of 10, which
/// leaves .995 of a cosine, as far as largest_nudge() lets it; else default_beta. Two digits. What that leaves wanting, a longer nudged
/// phase averages away, by up to four times as many states, where neither relaxation.average_nudged nor nudged_steps is set.
template <class S>
NudgeChoice chosen_nudge(const Config& config, const Network<S>& network, const std::string& estimator,
                         const Batch& batch);

/// The same for the network and first batch of a run, which are made for it.
NudgeChoice chosen_nudge(const Config& config, const RunParts& parts);

/// The config with the beta and the average that were chosen for it.
Config with_nudge(const Config& config, const NudgeChoice& choice);

/// "nudge: 1.2 mV beside 0.25 mV of noise of a node, signal-to-noise 4.8, expected cosine 0.98".
std::string nudge_text(const Config& config, const NudgeChoice& choice);

/// What to say of a nudge below the noise of its nodes, and what would lift it; empty above it.
std::string nudge_warning(const Config& config, const NudgeChoice& choice);

/// What to say of a run whose nudge has ended below the noise of its nodes.
std::string drowned_note(double snr, double cosine);

/// UserError where the signal is below a tenth of the noise, unless nudge.below_noise asks for it.
void check_nudge(const Config& config, const NudgeChoice& choice);

}  // namespace nudge
