// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "training/batch/batch_gradient.hpp"
#include "training/config/run_parts.hpp"

namespace nudge {

/// True if the config leaves open a setting that the arrays or the first batch decide, once, before a run begins:
///     circuit.amplifier_bandwidth   circuit.gain_bandwidth over the noise gain of the heaviest line of all arrays;
///     crossbar.*_range     crossbar.headroom times the largest value at the converters of that kind, of all arrays, where they have bits,
///                          no range and crossbar.ranging = once;
///     circuit.turn_slots   slots of the busiest array in a step of settling, where tokens take turns and holds leak.
bool leaves_circuit_open(const Config& config);

/// Config whose open keys (leaves_circuit_open) are set by a network and a batch, at the config's nudge and with its
/// estimator. Unchanged where no key is open.
template <class S>
Config chosen_circuit(const Config& config, const Network<S>& network, const Batch& batch);

/// Sets the open keys as above, with the network and first batch of a run, which it makes.
Config chosen_circuit(const Config& config, const RunParts& parts);

inline constexpr const char* bandwidth_key = "circuit.amplifier_bandwidth";

/// Bandwidth in Hz that circuit.gain_bandwidth leaves the amplifiers of the heaviest line of all arrays of a network.
template <class S>
double bandwidth_left_Hz(const Config& config, const Network<S>& network);

/// Warning text where circuit.amplifier_bandwidth is set to more than circuit.gain_bandwidth leaves the amplifiers of the heaviest line;
/// else empty. Such an amplifier has the power of the smaller one. Makes the arrays of a run.
std::string bandwidth_warning(const Config& config, const RunParts& parts);

/// Sets circuit.amplifier_bandwidth alone, where it is open, with the arrays of a run, which it makes: no batch is needed.
Config chosen_bandwidth(const Config& config, const RunParts& parts);

/// Copies choices that a run stored before its first step into `given`, where `given` leaves them open. These are the
/// keys of leaves_circuit_open(), its beta and its average.
Config settled_as(const Config& stored, Config given);

/// Nudge of a run and its size relative to the noise of the nodes that it moves, measured on one batch.
struct NudgeChoice {
  double beta = 0;
  NudgeSignal signal = {};
  double ratio = 0;  ///< displacement over the root mean square of z*, without noise
  bool seen = true;  ///< the noise does not hide the displacement; else it is an upper bound
  /// Steps of a nudged phase, and number of its last states that are averaged; 0: as configured.
  int steps = 0, average = 0;

  /// True if the network has noise and the estimator a nudge.
  bool measured() const { return signal.known(); }
};

/// Largest displacement, over the root mean square of z*, at which the phases of an estimator are still about linear.
/// An automatic beta stays below it (docs/reference/estimators.md).
double largest_nudge(const Config& config, const std::string& estimator);

/// Measures the nudge of `options` on a batch.
template <class S>
NudgeChoice measured_nudge(const Network<S>& network, BatchGradientOptions options, const Batch& batch);

/// Returns the largest beta, to 9 %, at which all nudged phases of a batch end settled (SequenceReport::nudged). It is not above the
/// beta of `options`. 0: none of 10 halves does, as where phases are too short to tell, or their estimator does not measure it. For costs whose curvature is not known; of one with a curvature c the bound is (2/ε − D)/c.
double largest_settling_beta(const Network<double>& network, BatchGradientOptions options, const Batch& batch);

/// Chooses beta: the config's, where set. For auto on physical hardware it is the smallest beta, from default_beta to
/// largest_nudge(), with a signal-to-noise ratio of 10 (a cosine of 0.995). For auto elsewhere it is default_beta.
/// Rounded to two digits. If the ratio stays below 10, a longer nudged phase averages up to four times as many states,
/// where neither relaxation.average_nudged nor nudged_steps is set.
template <class S>
NudgeChoice chosen_nudge(const Config& config, const Network<S>& network, const std::string& estimator,
                         const Batch& batch);

/// Chooses the nudge as above, with the network and first batch of a run, which it makes.
NudgeChoice chosen_nudge(const Config& config, const RunParts& parts);

/// Config with the chosen beta and average.
Config with_nudge(const Config& config, const NudgeChoice& choice);

/// Describes a nudge: "beta = 0.1 moves the nodes by 1.2 mV against 0.25 mV of noise: signal-to-noise 4.8".
std::string nudge_text(const Config& config, const NudgeChoice& choice);

/// Warning text for a nudge below the noise of its nodes, with the keys that lift it. Empty: the nudge is above the
/// noise.
std::string nudge_warning(const Config& config, const NudgeChoice& choice);

/// Warning text for a run whose nudge has ended below the noise of its nodes.
std::string drowned_note(double snr);
/// Text of a signal-to-noise ratio: "below 0.3" where reads do not resolve it, "-" where there is none.
std::string snr_text(double snr);

/// True if the estimator has the key nudge.below_noise, which an estimator of one's own may leave out.
bool reads_below_noise(const Config& config);

/// Throws UserError if the signal is below a tenth of the noise, unless nudge.below_noise allows it.
void check_nudge(const Config& config, const NudgeChoice& choice);

}  // namespace nudge
