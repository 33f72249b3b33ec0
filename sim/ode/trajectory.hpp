// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/errors.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// Options for following a system in physical time. Broken rules (in brackets) throw UserError.
struct IntegrateOptions {
  std::string stepper = "dopri5";  ///< rk4 (fixed step) or dopri5 (adaptive)
  double tau_s = 1;                ///< the time constant τ in seconds: τ dz/dt = F(z)  [> 0]
  double duration_s = 1;           ///< [> 0]
  double step_s = 0.1;             ///< rk4: the step; dopri5: the first step  [> 0]
  int samples = 100;               ///< states kept after the initial one, equally spaced  [≥ 1]
  double relative_error = 1e-8;    ///< dopri5: local error per step, relative, and absolute  [> 0]
};

/// Trajectory z(t) at times_s[0] = 0, ..., duration_s. status: converged (it reached duration_s, which says nothing about an equilibrium),
/// diverged (a non-finite state appeared) or stalled (the step size went to zero). In the latter two only the states before that are kept.
template <class S>
struct Trajectory {
  Status status = Status::converged;
  std::vector<double> times_s;
  std::vector<Matrix<S>> states;
  int force_evaluations = 0;
};

/// Follows τ dz/dt = F(z) from z0 (rows, cols) with Boost.odeint.
template <class S>
Trajectory<S> integrate(Dynamics<S>& dynamics, ConstMatrixRef<S> z0, const IntegrateOptions& options);

}  // namespace nudge
