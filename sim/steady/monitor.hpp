// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <vector>

#include "sim/settle.hpp"

namespace nudge {

/// Frobenius norm ‖x‖_F.
template <class S>
double frobenius_norm(ConstMatrixRef<S> x) {
  return std::sqrt(squared_norm<S>(x));
}

/// Norm ‖m ⊙ f‖_F of the forces that can move a state of the dynamics, which may keep it in a box. `held` is working memory.
template <class S>
double moving_norm(const Dynamics<S>& dynamics, ConstMatrixRef<S> z, ConstMatrixRef<S> f, Matrix<S>& held) {
  const Box<S>* box = dynamics.box();
  if (box == nullptr) return frobenius_norm<S>(f);
  held = f;
  box->hold(z, f, held, {0, z.cols()});
  return frobenius_norm<S>(held);
}

/// Relative residual ‖F‖/‖z‖. A state that is 0 has 0 if it stays there (inputs that are all zero), and ∞ if it moves.
double relative_residual(double force_norm, double state_norm);

/// Judges a settling run by the norms of its states and forces: the inequalities of Status, in one place.
class Monitor {
 public:
  /// Starts a run; residuals is cleared and then holds r_0, r_1, ...
  Monitor(const SettleOptions& options, std::vector<double>& residuals);

  /// Takes ‖z_k‖ and ‖F(z_k)‖ of the next step (the first call is z_0). True: stop now, z_k is converged or diverged.
  bool observe(double state_norm, double force_norm);

  /// Records the residual of a returned state that is not one of the steps (a mean).
  void observe_mean(double state_norm, double force_norm);

  /// Returns true and marks the run as diverged if a state of this norm is too large or not finite.
  bool out_of_bounds(double state_norm);

  /// Reports that the run cannot go on (line search, step size). The status is `stalled` unless the residual is within
  /// tolerance or within `rounding`. A force is a difference of terms of the size of z, each rounded.
  void give_up(double rounding = 0) {
    stuck_ = true;
    rounding_ = rounding;
  }

  /// Goes on from a state beyond the bounds to which a solver has jumped, as from a start of its size. True: stop, it has converged.
  bool go_on_from(double state_norm);

  double residual() const { return residual_; }
  bool diverged() const { return diverged_; }

  /// Fills in status, residual and decay.
  SettleResult finish(SettleResult result) const;

 private:
  double decay() const;
  Status judge() const;

  const SettleOptions& options_;
  std::vector<double>& residuals_;
  double residual_ = 0;
  double limit_ = -1;
  bool diverged_ = false;
  bool stuck_ = false;
  double rounding_ = 0;
};

/// End of a fixed-step solver: takes the mean of the last n states and the last evaluation. Shared by euler and rk4.
template <class S>
class FixedStepEnd {
 public:
  FixedStepEnd(const SettleOptions& options, SettleWorkspace<S>& scratch) : options_(options), scratch_(scratch) {}

  /// Call with the state after `steps` steps.
  void add(ConstMatrixRef<S> z, int steps) {
    if (scratch_.each_step) scratch_.each_step(z, steps);
    const int count = std::min(options_.average_last, options_.max_steps);
    const int taken = steps - (options_.max_steps - count);
    if (count <= 1 || taken < 1) return;
    if (taken == 1) {
      scratch_.mean = z;
    } else {
      scratch_.mean += (z - scratch_.mean) / static_cast<S>(taken);  // a unit that rests on a bound keeps it to the bit
    }
  }

  /// Call after max_steps steps: averages z and evaluates its residual where the options ask for it.
  SettleResult finish(Dynamics<S>& dynamics, MatrixRef<S> z, Monitor& monitor, SettleResult result) const {
    if (monitor.out_of_bounds(frobenius_norm<S>(z))) return monitor.finish(result);
    const int count = std::min(options_.average_last, options_.max_steps);
    if (count > 1) z = scratch_.mean;
    if (options_.final_residual || result.force_evaluations == 0) {
      dynamics.begin_reads(ReadClass::monitor);
      dynamics.force(z, scratch_.force);
      ++result.force_evaluations;
      const double state_norm = frobenius_norm<S>(z);
      const double force_norm = moving_norm<S>(dynamics, z, scratch_.force, scratch_.held);
      if (count > 1) {
        monitor.observe_mean(state_norm, force_norm);
      } else {
        monitor.observe(state_norm, force_norm);
      }
    }
    return monitor.finish(result);
  }

 private:
  const SettleOptions& options_;
  SettleWorkspace<S>& scratch_;
};

}  // namespace nudge
