// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/base/status.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// How to relax. Times are in units of τ.
struct SettleOptions {
  std::string solver = "euler";       ///< a name of settle_solvers()
  double step = 0.3;                  ///< ε = dt/τ of the fixed-step solvers; first step of the adaptive one
  int max_steps = 30;                 ///< steps (iterations) at most
  double tolerance = 0;               ///< on r = ‖F‖/‖z‖; 0 never stops early
  int average_last = 1;               ///< return the mean of the last n states (fixed-step solvers; against read noise)
  bool final_residual = true;         ///< evaluate the force once more at the returned state
  double divergence_ratio = 1e4;      ///< `diverged` when ‖z‖ > ratio · max(‖z_0‖, 1)
  int window = 16;                    ///< steps looked at to tell stalled and oscillating from max_steps
  double ode_relative_error = 1e-6;   ///< adaptive solver: local error per step, relative and absolute
  int memory = 5;                     ///< Anderson: depth; Newton–GMRES: Krylov dimension is 10·memory
};

/// What happened. residual is ‖F‖_F/‖z‖_F at the returned state when final_residual, else of the last evaluation.
struct SettleResult {
  Status status = Status::max_steps;
  int steps = 0;
  int force_evaluations = 0;
  double residual = 0;
  double time = 0;                    ///< simulated time in units of τ (0 for solvers that are not an ODE)
  double decay = 0;                   ///< geometric mean of r_{k+1}/r_k over the last `window` steps: ρ of the slow mode
};

/// Relaxes z in place until F(z) = 0; one system (k = 1). S is float or double. `scratch` is resized on first use and
/// then reused: no allocation inside a phase.
template <class S>
struct SettleWorkspace {
  Matrix<S> force, mean, extra;
  std::vector<double> residuals;
};

template <class S>
SettleResult settle(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options, SettleWorkspace<S>& scratch);

/// Names of the solvers: euler, rk4, dopri5, anderson, newton_gmres.
const std::vector<std::string>& settle_solvers();

}  // namespace nudge
