// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/statistics.hpp"
#include "sim/config/config.hpp"
#include "sim/equilibrium.hpp"
#include "sim/spectrum.hpp"
#include "sim/steady/continuation.hpp"
#include "training/data/batches.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Stability of the equilibria of a circuit over the first sequences of a batch: the asymmetry of J_F(z*), and the leading
/// eigenvalues. There are none where a state is no equilibrium (Equilibrium::lost). The eigenvalues belong to the Jacobian of the units with their speeds, as amplifiers or a mass give them (sim/moving.hpp).
/// Holds and delays (circuit.hold_*, correction.delay, netlist.delay) move none of them: they act after a free phase or in
/// nudged ones.
struct StabilityReport {
  int sequences = 0;
  int worst = 0;                           ///< sequence with the largest real part
  double asymmetry = 0;                    ///< mean ‖Jv − Jᵀv‖/‖Jv‖
  std::vector<Eigenvalue> leading;         ///< leading eigenvalues of sequence `worst`, 1/τ
  double abscissa = Equilibrium::unknown;  ///< largest real part of all, 1/τ; NaN: no equilibrium, or not found
  /// ρ of a parallel step, over the leading eigenvalues of all sequences: max |1 + ε λ|, with a mass the roots of
  /// sim/mover.hpp's step. NaN of steps of another kind, which measured_decay() tells.
  double decay = Equilibrium::unknown;
  Equilibrium at;  ///< verdict on the states that were looked at; known where their eigenvalues were asked for
  bool slow_amplifiers = false;  ///< without its amplifiers' lag the least stable one would be stable, and is not
  bool feed_forward = false;     ///< J is lower triangular: its eigenvalues are the leaks, whatever the weights
  bool converged = false;        ///< true if the eigenvalues of all sequences converged
  bool at_rest() const { return !(at.lost > 0); }
};

/// Options of eigenvalues that suffice for a verdict. T·C may be large, and the eigenvalues, T blocks of a causal
/// system, lie close together.
SpectrumOptions stability_spectrum(std::uint64_t seed);

/// Binds the dynamics to one sequence of a batch, with noise-free reads.
void bind_ideally(const Network<double>& network, const Batch& batch, Index sequence,
                  CircuitDynamics<double>& dynamics);

/// UserError for a config whose inputs change in time.
void expect_equilibrium(const Config& config);

/// Measures the stability of at most four sequences. `states`: fixed points (rows, cols) of the batch's sequences, where the phases of
/// `reports` ended. `phase`: of the circuit, with its step and motion; `seed`: of the start vectors.
StabilityReport measure_stability(const Network<double>& network, const Batch& batch,
                                  const std::vector<Matrix<double>>& states, const std::vector<SequenceReport>& reports,
                                  const SettleOptions& phase, std::uint64_t seed, int threads);

/// Computes how sequence `sequence` of the batch, at its fixed point `state`, loses its equilibrium if it turns
/// (hopf_normal_form()), under the motion.
HopfForm hopf_of(const Network<double>& network, const Batch& batch, Index sequence, const Matrix<double>& state,
                 const Motion& motion);

/// Warning text for an equilibrium to which `free_steps` steps no longer return: more than 1e-3 of a perturbation is left;
/// empty: they return.
std::string stability_alarm(const StabilityReport& report, int free_steps);

/// Warning text for a contraction that weakens; empty: not so far, it is too weak already, or it is unknown. `decays`: factors ρ by which
/// a free step shrinks a perturbation, measured at `steps`. Extrapolates the least-squares line through the last five −ln ρ by eight of
/// their intervals. The limit is the ρ of which `free_steps` steps leave 1e-3.
std::string decay_forecast(const std::vector<double>& steps, const std::vector<double>& decays, int free_steps);

/// Mean factor per step of a noise-free free phase, from |F|/|z| of about 1 to its end. Sweeps and solvers shrink a perturbation
/// by this factor; no eigenvalue tells it. NaN: unknown.
double measured_decay(const Equilibrium& phases);

/// Verdict in one sentence: sentence(Equilibrium) of the free phases, unless the eigenvalues of the equilibrium say that
/// no circuit stays there. Also says how the leading pair turns. Where the longer phases to a fixed point end at none, it says how
/// far and why, and nothing of stability.
std::string stability_verdict(const StabilityReport& report, const Equilibrium& phases);

/// Count of the equilibria of a network with an energy: where it settles from random starts.
struct MultistabilityReport {
  int sequences = 0, starts = 0;  ///< numbers of sequences, or of samples, and of starts for each; 0: not asked for
  double settled = 0;             ///< share of the starts whose force vanished
  double same = 0;    ///< share of the settled starts that ended in the state of the free phase, by their energy
  double lower = 0;   ///< share of the settled starts that ended in a state of less energy
  double states = 0;  ///< number of different energies found for a sample, the free phase's included; mean over samples
};

/// Settles at most four sequences from `starts` random starts, uniform in [−π, π] in every unit (all phases of an
/// oscillator). `states`: equilibria (rows, cols) of the batch's sequences; `step`: ε. Independent rows are samples of
/// their own. Two energies are equal within 1e-6 of the range of all energies found, and 1e-9. UserError for a network
/// without an energy.
MultistabilityReport measure_multistability(const Network<double>& network, const Batch& batch,
                                            const std::vector<Matrix<double>>& states, double step, int starts,
                                            std::uint64_t seed, int threads);

/// Path of a network's equilibrium as one number of its config changes.
struct FollowedKey {
  std::string key;
  double from = 0, to = 0;
  int sequence = 0;  ///< sequence of the first training batch: the least stable that `nudge stability` looks at
  Branch branch;
};

/// Follows the equilibrium of `asked` while `key` goes from its value there to its value in `there`, a config of the
/// same network. Everything else stays, also the draws of weights, devices and nodes by their seeds. The circuit has no
/// fresh noise, in double. `tell` gets a text for every value. UserError for a key that is no real number or does not
/// move the force. UserError for networks without a smooth force to follow: feed-forward ones, which lose no
/// equilibrium, and nodes in a box.
FollowedKey follow_key(const Config& asked, const Config& there, const std::string& key, int max_points,
                       const std::function<void(const std::string&)>& tell = {});

/// Reason why the free phase found no state for the first such sequence of a batch, by the names of its parts
/// (TellsFailure). Found by a system that solves itself (Direct), solving this sequence alone and without noise. Empty:
/// every sequence has a state, or no reason is known.
std::string why_unsolved(const Network<double>& network, const Batch& batch,
                         const std::vector<SequenceReport>& reports);

/// Stability of one sampled chip.
struct ChipStability {
  std::uint64_t seed = 0;
  double abscissa = 0;   ///< largest real part of an eigenvalue of J at z*, 1/τ; NaN where none was found
  double frequency = 0;  ///< |Im λ| of the eigenvalue of `abscissa`, radians per τ; 0: real
  double residual = 0;   ///< largest ‖F‖/‖z‖ at the end of its free phases
  bool settles = false;  ///< every sequence comes to rest, and perturbations there decay
};

/// Distance of a network on devices from losing its equilibria: for the chip of the config's seed, and for others.
struct ChipYield {
  StabilityReport report;
  Equilibrium phases;  ///< of the first chip's free phases
  std::string verdict;
  double margin = 0;  ///< −abscissa: how much every leak may fall before the equilibrium is lost, 1/τ
  double hopf_frequency =
      0;          ///< |Im λ| of the leading pair, radians per τ: how fast it turns where it crosses the axis; 0: real
  HopfForm hopf;  ///< form of the bifurcation of the first chip, at its least stable equilibrium
  std::vector<ChipStability> chips;
  double yield = 0;   ///< share of the chips that settle
  Interval interval;  ///< 95 % interval of the yield, Wilson
};

/// Computes the eigenvalues of J_F(z*), without noise, at the fixed points of the first training batch, for `chips` ≥ 1
/// chips with the seeds seed, seed + 1, …. Each chip has devices, amplifiers and nodes of its own (spreads, programming
/// errors, stuck devices, offsets). Initial weights differ too where model.weights names no file. UserError for
/// networks that do not settle.
ChipYield chip_yield(const Config& config, int chips, const std::function<void(const std::string&)>& tell = {});

/// Returns |Im λ| of the leading eigenvalue, 0 below 1e-6 of |λ|: there a split double eigenvalue looks complex.
double turning_rate(const StabilityReport& report);

}  // namespace nudge
