// SPDX-License-Identifier: Apache-2.0
// Adaptive Dormand–Prince 5(4) (Boost.odeint controlled runge_kutta_dopri5): the relaxation in physical time. A step is
// accepted when its error estimate is at most ode_relative_error · (1 + |z_i| + dt |F_i|) in every component. The method
// is first-same-as-last: F at the new state comes with the step, and so does the residual.
// Near an equilibrium the step grows to the limit of stability, where the error stays just below its bound; so does the
// residual. Hence the bound used is min(ode_relative_error, tolerance/10) where there is a tolerance.
// steps counts accepted steps. For noise-free forces: fresh noise makes the error control shrink the step for ever.
#include <algorithm>
#include <limits>

#include "sim/ode/odeint.hpp"
#include "sim/steady/monitor.hpp"
#include "sim/steady/solvers.hpp"

namespace nudge {
namespace {

/// Error bound of the options, but at least ten rounding units: a smaller bound would reject every step.
template <class S>
double error_bound(const SettleOptions& options) {
  double bound = options.ode_relative_error;
  if (options.tolerance > 0) bound = std::min(bound, options.tolerance / 10);
  return std::max(bound, 10 * static_cast<double>(std::numeric_limits<S>::epsilon()));
}

/// Clock of reads: gives the six new evaluations of a step their share of it, so that the durations of all reads add up to the
/// simulated time. A rejected step has been read, but no circuit went that way: its counted time is taken off the next step.
template <class S>
class ReadClock {
 public:
  explicit ReadClock(Dynamics<S>& dynamics) : dynamics_(dynamics) { dynamics_.set_read_timing({1, 0}); }
  void begin(double step) {
    const double counted = std::max(step - ahead_, 0.0);
    dynamics_.set_read_timing({1, counted / 6});
    ahead_ += counted;
  }
  void accept(double step) { ahead_ -= step; }

 private:
  Dynamics<S>& dynamics_;
  double ahead_ = 0;  ///< time counted beyond the simulated one, ≥ 0
};

}  // namespace

template <class S>
SettleResult settle_dopri5(Dynamics<S>& dynamics, MatrixRef<S> z, const SettleOptions& options,
                           SettleWorkspace<S>& scratch) {
  using State = typename OdeSystem<S>::State;
  ReadClock<S> clock(dynamics);
  Monitor monitor(options, scratch.residuals);
  SettleResult result;
  const OdeSystem<S> system{&dynamics, z.rows(), z.cols(), &result.force_evaluations};
  auto stepper = controlled_dopri5<S>(error_bound<S>(options));
  State x(static_cast<std::size_t>(z.size()));
  State dxdt(x.size());
  const Eigen::Map<const Matrix<S>> state(x.data(), z.rows(), z.cols());
  const Eigen::Map<const Matrix<S>> force(dxdt.data(), z.rows(), z.cols());
  Eigen::Map<Matrix<S>>(x.data(), z.rows(), z.cols()) = z;
  system(x, dxdt, S(0));
  auto step = static_cast<S>(options.step);
  while (true) {
    const double state_norm = frobenius_norm<S>(state);
    if (state.allFinite()) z = state;
    if (monitor.observe(state_norm, frobenius_norm<S>(force)) || result.steps >= options.max_steps) break;
    S tried = step;
    S t = 0;
    clock.begin(static_cast<double>(tried));
    while (stepper.try_step(system, x, dxdt, t, step) == boost::numeric::odeint::fail) {
      if (!(step > std::numeric_limits<S>::epsilon() * static_cast<S>(options.step))) {
        monitor.give_up();
        return monitor.finish(result);
      }
      tried = step;
      clock.begin(static_cast<double>(tried));
    }
    clock.accept(static_cast<double>(tried));
    result.time += static_cast<double>(tried);
    ++result.steps;
  }
  return monitor.finish(result);
}

#define NUDGE_DOPRI5(S) \
  template SettleResult settle_dopri5<S>(Dynamics<S>&, MatrixRef<S>, const SettleOptions&, SettleWorkspace<S>&);
NUDGE_BOTH_PRECISIONS(NUDGE_DOPRI5)

}  // namespace nudge
