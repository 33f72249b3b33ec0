// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/dynamics.hpp"
#include "sim/settle.hpp"

namespace nudge {

/// Verdict on the states that free phases end in. Shares of the samples that were looked at, of coupled rows of the sequences.
struct Equilibrium {
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  int samples = 0;            ///< looked at; 0: there is no verdict
  double settled = unknown;   ///< share no farther than settled_within from an equilibrium
  double lost = unknown;      ///< share farther than lost_beyond, or without any
  double distance = unknown;  ///< mean distance to the equilibrium; 1 for samples without any
  double none = unknown;      ///< share without any: J is singular, or the state has run away
  /// Share at an unstable equilibrium, which a circuit leaves: an eigenvalue has a positive real part. Also counted: Newton's method
  /// finds such an equilibrium from where the phase ends, with a complex pair (past a Hopf point).
  double unstable = unknown;
  double dead = unknown;             ///< share of the units, columns of parameters, whose gradient is exactly 0
  double abscissa = unknown;         ///< largest real part of an eigenvalue that was found, 1/τ
  double residual = 0;               ///< largest ‖F‖/‖z‖ where the phases end
  double decay = 0;                  ///< largest factor of the residual per step
  Status ended = Status::max_steps;  ///< what ended the phase of that residual; converged: its tolerance, if it has one
  int steps = 0;                     ///< of the free phase
  int missing_steps = 0;             ///< more steps that would settle it; 0: none, or no stable equilibrium was found
  /// Keys that what was judged reads, of mending_keys(): advice names no other.
  std::vector<std::string> keys = {"relaxation.free_steps", "relaxation.step", "relaxation.tolerance"};
  bool may_name(const std::string& key) const;

  /// Limits of the distance ‖J⁻¹F‖ to the equilibrium, relative to ‖z‖ or to the norm of the equilibrium, whichever is larger.
  /// Up to the first a state has settled. Beyond the second it is lost. Measured on trained digits (examples/digits.toml): at
  /// distances of 5, 12 and 33 % the gradient is off by 20, 28 and 48 % of its norm. A state that runs away has no equilibrium
  /// (J singular), or is as far from it as it is large: 1.
  static constexpr double settled_within = 0.01, lost_beyond = 0.25;

  bool known() const { return samples > 0; }
  bool stable() const { return abscissa < 0; }  ///< states that have not settled have a stable equilibrium near them
  double aim() const;                           ///< residual that counts as the aim of more steps

  bool rests() const { return !(lost > 0.5); }
  bool holds() const { return !(unstable > 0.5); }
  bool lives() const { return !(dead > 0.9); }
  /// False where most samples are lost or unstable, or nearly no unit has a gradient. Three such verdicts in a row end a run.
  bool sound() const { return !known() || (rests() && holds() && lives()); }
  bool clean() const { return !known() || (settled == 1 && !(unstable > 0) && lives()); }

  /// Takes in the verdict on other samples.
  void add(const Equilibrium& other);
};

/// Keys that advice may name, of any network.
const std::vector<std::string>& mending_keys();

/// One line that says how far the states are from settled, and the key that mends it. Empty where nothing is wrong, and
/// without a verdict.
std::string finding(const Equilibrium& verdict);
std::string remedy(const Equilibrium& verdict);

/// Text on the end of the phase: "residual 0.2 after 30 steps, where it no longer falls".
std::string ended_text(const Equilibrium& verdict);

/// Both in a sentence, the same wherever a verdict is told.
std::string sentence(const Equilibrium& verdict);

/// Advice for a circuit where perturbations grow: "raise model.damping, or start elsewhere".
std::string steadying(const Equilibrium& verdict);

/// ε of a phase whose steps in time move all nodes at once, which alone has the rates |1 + ε λ|; 0 of others.
inline double parallel_step(const SettleOptions& phase) {
  return steps_in_time(phase.solver) && phase.schedule == RelaxationSchedule::parallel ? phase.step : 0;
}

/// Judges z (rows, cols), where a free phase of so many steps ended, by products with J alone. GMRES gives the distance, Arnoldi's method
/// the eigenvalues of each sample. A sample that has not settled is judged at the equilibrium to which at most six steps of Newton's
/// method lead. `coupled`: the rows are one sample, not one each. `motion`: of the nodes (sim/moving.hpp). `step`: its
/// parallel_step(). Where that is known and nodes have no speed, decay is the largest |1 + ε λ| at a stable equilibrium that the phase
/// has not reached. Noise-free reads; `dead` stays unknown.
Equilibrium judge_point(Dynamics<double>& dynamics, const Matrix<double>& z, bool coupled, const SettleResult& phase,
                        const Motion& motion = {}, double step = 0);

/// Sets missing_steps to the number after which the phase reaches the residual that the sentence names, found by taking the steps; 0 where it
/// is not reached soon. Sweeps, slow amplifiers and the first steps of a phase contract otherwise than the ratio that judge_point() has.
/// `settled`: the phase of all that was judged, until this residual or so many steps.
void confirm_steps(Equilibrium& verdict, const std::function<SettleResult(double residual, int most_steps)>& settled);

}  // namespace nudge
