// SPDX-License-Identifier: Apache-2.0
#include "sim/ode/trajectory.hpp"

#include <fmt/format.h>

#include <boost/numeric/odeint/integrate/integrate_times.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta4.hpp>
#include <cmath>

#include "sim/ode/odeint.hpp"
#include "sim/read_timing.hpp"

namespace nudge {
namespace {

namespace odeint = boost::numeric::odeint;

struct NotFinite {};

void require_positive(double value, const char* name) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw UserError(fmt::format("integrate: {} = {} must be positive and finite", name, value));
  }
}

void check(const IntegrateOptions& o) {
  require_positive(o.tau_s, "tau_s");
  require_positive(o.duration_s, "duration_s");
  require_positive(o.step_s, "step_s");
  require_positive(o.relative_error, "relative_error");
  require_positive(o.samples, "samples");
  if (o.stepper != "rk4" && o.stepper != "dopri5") {
    throw UserError(fmt::format("integrate: stepper = \"{}\" must be rk4 or dopri5", o.stepper));
  }
}

}  // namespace

template <class S>
Trajectory<S> integrate(Dynamics<S>& dynamics, ConstMatrixRef<S> z0, const IntegrateOptions& options) {
  using State = typename OdeSystem<S>::State;
  check(options);
  Trajectory<S> result;
  const OdeSystem<S> system{&dynamics, z0.rows(), z0.cols(), &result.force_evaluations};
  State x(static_cast<std::size_t>(z0.size()));
  Eigen::Map<Matrix<S>>(x.data(), z0.rows(), z0.cols()) = z0;
  // odeint works in units of τ; the times of the result are computed from their index, without accumulated rounding.
  std::vector<S> times;
  for (int i = 0; i <= options.samples; ++i) {
    times.push_back(static_cast<S>(options.duration_s / options.tau_s * i / options.samples));
  }
  const auto keep = [&](const State& state, S /*t*/) {
    const Eigen::Map<const Matrix<S>> z(state.data(), z0.rows(), z0.cols());
    if (!z.allFinite()) throw NotFinite{};
    result.times_s.push_back(options.duration_s * static_cast<double>(result.states.size()) / options.samples);
    result.states.emplace_back(z);
  };
  const auto step = static_cast<S>(options.step_s / options.tau_s);
  try {
    if (options.stepper == "rk4") {
      dynamics.set_read_timing(rk4_timing(static_cast<double>(step), dynamics.leak()));
      odeint::integrate_times(odeint::runge_kutta4<State, S, State, S>(), system, x, times.begin(), times.end(), step,
                              keep);
    } else {
      dynamics.set_read_timing({1, 0});  // steps of its own choosing: not counted
      odeint::integrate_times(controlled_dopri5<S>(options.relative_error), system, x, times.begin(), times.end(), step,
                              keep);
    }
  } catch (const NotFinite&) {
    result.status = Status::diverged;
  } catch (const odeint::odeint_error&) {  // the step was halved 500 times without success
    result.status = Status::stalled;
  }
  return result;
}

#define NUDGE_TRAJECTORY(S) \
  template Trajectory<S> integrate<S>(Dynamics<S>&, ConstMatrixRef<S>, const IntegrateOptions&);
NUDGE_BOTH_PRECISIONS(NUDGE_TRAJECTORY)

}  // namespace nudge
