// SPDX-License-Identifier: Apache-2.0
// Fixed-step Euler, z ← z + ε F(z): the relaxation of the founding note and of every training phase. First order in
// physical time, of which a step takes what sim/read_timing.hpp says; at an equilibrium it is the damped Jacobi iteration, stable while |1 + ε λ| < 1 for every eigenvalue
// λ of the Jacobian. Nothing is allocated after the first call of a shape.
#include "sim/lag.hpp"
#include "sim/read_timing.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_euler(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                          SettleWorkspace<S>& scratch) {
  Matrix<S>& force = scratch.force;
  force.resize(z.rows(), z.cols());
  const ReadTiming timing = euler_timing(options.step, dynamics.leak(), options.lag);
  dynamics.set_read_timing(timing);
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  Lag<S> lag(options.lag, options.step, dynamics.inertia());
  const Box<S>* box = dynamics.box();
  lag.start(z.rows(), z.cols(), scratch.flow);
  while (result.steps < options.max_steps) {
    dynamics.force(z, force);
    ++result.force_evaluations;
    // The norms come before the update: where both are finite no element of the next state can overflow.
    if (monitor.observe(frobenius_norm<S>(z), moving_norm<S>(dynamics, z, force, scratch.held))) {
      return monitor.finish(result);
    }
    lag.advance(z, force, scratch.flow);
    if (box != nullptr) box->project(z, {0, z.cols()});
    ++result.steps;
    result.time = result.steps * timing.duration;
    end.add(z, result.steps);
  }
  return end.finish(dynamics, z, monitor, result);
}

#define NUDGE_EULER(S) \
  template SettleResult settle_euler<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_EULER)

}  // namespace nudge
