// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/hopf.hpp"
#include "sim/spectrum.hpp"
#include "training/data/batches.hpp"
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

}  // namespace nudge
