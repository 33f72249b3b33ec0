// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "sim/spectrum.hpp"
#include "sim/steady/continuation.hpp"
#include "training/data/batches.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// Where the equilibria stand: leading eigenvalues of J_F(z*) and its asymmetry, over the first sequences of a batch.
struct StabilityReport {
  int sequences = 0;
  int worst = 0;                    ///< the one with the largest real part
  double asymmetry = 0;             ///< mean ‖Jv − Jᵀv‖/‖Jv‖
  std::vector<Eigenvalue> leading;  ///< of the sequence that has the largest real part, units 1/τ
  double abscissa = 0;              ///< largest real part of all, 1/τ
  double decay = 0;           ///< ρ = max |1 + ε λ| over the leading eigenvalues of all sequences, per Euler step
  bool feed_forward = false;  ///< J is lower triangular: its eigenvalues are the leaks, whatever the weights
  bool converged = false;     ///< the eigenvalues of all sequences have
};

/// Enough for a verdict; T·C may be large and its eigenvalues, T blocks of a causal system, lie close together.
SpectrumOptions stability_spectrum(std::uint64_t seed);

/// Binds the system of one sequence of a batch, its reads without noise.
void bind_ideally(const Network<double>& network, const Batch& batch, Index sequence,
                  CircuitDynamics<double>& dynamics);

/// `states`: fixed points (rows, cols) of the batch's sequences; `step`: ε. Seeded by `seed`; at most four sequences.
StabilityReport measure_stability(const Network<double>& network, const Batch& batch,
                                  const std::vector<Matrix<double>>& states, double step, std::uint64_t seed,
                                  int threads);

/// How sequence `sequence` of the batch, at its fixed point `state`, loses its equilibrium if it turns (hopf_normal_form()).
HopfForm hopf_of(const Network<double>& network, const Batch& batch, Index sequence, const Matrix<double>& state);

/// What to say of an equilibrium from which `free_steps` steps no longer come back: more than 1e-3 of its slowest mode is left; empty: they do.
std::string stability_alarm(const StabilityReport& report, int free_steps);

/// What to say of a margin that falls: the least-squares line through its last five values, measured at `steps`, passes within eight of their
/// intervals what a real mode needs so that `free_steps` steps of `epsilon` leave 1e-3 of it. Empty: it does not, or it is below already.
std::string margin_forecast(const std::vector<double>& steps, const std::vector<double>& margins, double epsilon,
                            int free_steps);

/// One sentence: stable, near the margin or unstable, and what to do. Near the margin: ρ^T1 > 1e-3, so that the slowest
/// mode does not settle below the residual of 1e-3 at which plain AEP needs its free phase (measured).
std::string stability_verdict(const StabilityReport& report, int free_steps);

/// How many equilibria a network with an energy has: where it settles from elsewhere.
struct MultistabilityReport {
  int sequences = 0, starts = 0;  ///< 0: not asked for
  double settled = 0;             ///< share of the starts whose force vanished
  double same = 0;    ///< of these, how many ended in the state that the free phase ends in, by their energy
  double lower = 0;   ///< and how many in one of less energy
  double states = 0;  ///< different energies that a sample was found in, the free phase's among them, mean over samples
};

/// From starts uniform in [−π, π] in every unit, all phases of an oscillator. `states`: equilibria (rows, cols) of the batch's sequences;
/// `step`: ε. At most four sequences, each of their rows a sample where rows are independent. Energies are the same within 1e-6 of what the
/// energy of the states that were found ranges over, and 1e-9. UserError for a network without an energy.
MultistabilityReport measure_multistability(const Network<double>& network, const Batch& batch,
                                            const std::vector<Matrix<double>>& states, double step, int starts,
                                            std::uint64_t seed, int threads);

/// How an equilibrium of a network moves with a number of its config.
struct FollowedKey {
  std::string key;
  double from = 0, to = 0;
  int sequence = 0;  ///< of the first training batch: the least stable of those that `nudge stability` looks at
  Branch branch;
};

/// The equilibrium of the config, followed while `key` goes from its value there to that of `there`, a config of the same network, and
/// everything else, draws of weights, devices and nodes by their seeds included, stays: the circuit without fresh noise, in double.
/// UserError for a key that is no real number or does not move the force, and for networks that have no smooth force to follow:
/// feed-forward ones, which lose no equilibrium, and nodes in a box. `tell` hears of every value.
FollowedKey follow_key(const Config& asked, const Config& there, const std::string& key, int max_points,
                       const std::function<void(const std::string&)>& tell = {});

/// What the first sequence of a batch whose free phase found no state falls over when a system that solves itself (Direct) solves it alone,
/// without noise, by the names of its parts (TellsFailure). Empty: every sequence has a state, or it says nothing.
std::string why_unsolved(const Network<double>& network, const Batch& batch,
                         const std::vector<SequenceReport>& reports);

}  // namespace nudge
