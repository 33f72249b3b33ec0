// SPDX-License-Identifier: Apache-2.0
// Fixed-step Euler, z ← z + ε F(z): the relaxation of the founding note and of every training phase. First order in
// physical time, of which a step takes what sim/read_timing.hpp says; at an equilibrium it is the damped Jacobi iteration, stable while |1 + ε λ| < 1 for every eigenvalue
// λ of the Jacobian. With a mass (second_order) nodes have speeds (sim/mover.hpp). Nothing is allocated after the first call of a shape.
#include "sim/mover.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

/// A trajectory is nowhere at rest, and need not be.
static SettleResult of_trajectory(SettleResult result) {
  result.status = Status::max_steps;
  result.residual = result.decay = 0;
  return result;
}

template <class S>
SettleResult settle_euler(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                          SettleWorkspace<S>& scratch) {
  Matrix<S>& force = scratch.force;
  force.resize(z.rows(), z.cols());
  const ReadTiming timing = euler_timing(options.step, dynamics.leak(), options.motion);
  dynamics.set_read_timing(timing);
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  Mover<S> mover(options.motion, options.step, dynamics);
  mover.start(z.rows(), z.cols(), scratch.flow);
  Driven<S>* driven = dynamics.driven();
  while (result.steps < options.max_steps) {
    if (driven != nullptr) driven->show_at(result.steps, options.max_steps);
    dynamics.force(z, force);
    ++result.force_evaluations;
    // The norms come before the update: where both are finite no element of the next state can overflow.
    if (monitor.observe(frobenius_norm<S>(z), moving_norm<S>(dynamics, z, force, scratch.held))) {
      return monitor.finish(result);
    }
    mover.advance(z, force, scratch.flow);
    ++result.steps;
    result.time = result.steps * timing.duration;
    end.add(z, result.steps);
  }
  result = end.finish(dynamics, z, monitor, result);
  return driven == nullptr || result.status == Status::diverged ? result : of_trajectory(result);
}

#define NUDGE_EULER(S) \
  template SettleResult settle_euler<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_EULER)

}  // namespace nudge
