// SPDX-License-Identifier: Apache-2.0
// The classical Runge–Kutta method of order 4 with a fixed step (Boost.odeint runge_kutta4). The first of its four
// stages is F(z_k), so the residual costs nothing extra.
// White read noise: rk4_timing() in sim/read_timing.hpp.
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>

#include "sim/ode/odeint.hpp"
#include "sim/read_timing.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {

template <class S>
SettleResult settle_rk4(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                        SettleWorkspace<S>& scratch) {
  using State = typename OdeSystem<S>::State;
  scratch.force.resize(z.rows(), z.cols());
  dynamics.set_read_timing(rk4_timing(options.step, dynamics.leak()));
  Monitor monitor(options, scratch.residuals);
  FixedStepEnd<S> end(options, scratch);
  SettleResult result;
  const OdeSystem<S> system{&dynamics, z.rows(), z.cols(), &result.force_evaluations};
  boost::numeric::odeint::runge_kutta4<State, S, State, S> stepper;
  State x(static_cast<std::size_t>(z.size()));
  State dxdt(x.size());
  const Eigen::Map<Matrix<S>> state(x.data(), z.rows(), z.cols());
  const Eigen::Map<Matrix<S>> force(dxdt.data(), z.rows(), z.cols());
  Eigen::Map<Matrix<S>>(x.data(), z.rows(), z.cols()) = z;
  while (result.steps < options.max_steps) {
    system(x, dxdt, S(0));
    if (monitor.observe(frobenius_norm<S>(state), frobenius_norm<S>(force))) return monitor.finish(result);
    stepper.do_step(system, x, dxdt, S(0), static_cast<S>(options.step));
    // Unlike an Euler step, later stages may overflow: keep the last finite state.
    if (monitor.out_of_bounds(frobenius_norm<S>(state)) && !state.allFinite()) return monitor.finish(result);
    z = state;
    ++result.steps;
    result.time = result.steps * options.step;
    end.add(z, result.steps);
  }
  return end.finish(dynamics, z, monitor, result);
}

#define NUDGE_RK4(S) \
  template SettleResult settle_rk4<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_RK4)

}  // namespace nudge
