// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/adjoint_estimators.hpp"

#include <cmath>

#include "sim/mover.hpp"

namespace nudge {
namespace {

template <class S>
void finish(const Matrix<S>& change, const Matrix<S>& a, SequenceReport& report) {
  const double size = static_cast<double>(a.norm());
  report.nudged_residual = size > 0 ? static_cast<double>(change.norm()) / size : 0;
  report.nudged = std::isfinite(size) ? Status::max_steps : Status::diverged;
}

}  // namespace

template <class S>
SequenceReport LinearAdjointEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  Linearization<S>& at = free_.run(example, options_.free, report);
  const Matrix<S>& z = *example.state;
  Matrix<S>& a = this->adjoint_;
  a.setZero(z.rows(), z.cols());
  cost_gradient_.resize(z.rows(), z.cols());
  change_.resize(z.rows(), z.cols());
  const ReadTiming timing = begin_nudged_reads(example, options_);
  example.cost->gradient(z, cost_gradient_);
  hold_at_rest<S>(*example.dynamics, at, z, cost_gradient_, change_);
  Mover<S> mover(options_.free.motion, options_.step, *example.dynamics);
  mover.start(z.rows(), z.cols(), flow_);
  const NudgedPoint<S> point{example.dynamics, &at, &z, example.filter};
  Layered<S>* swept = sweeping(*example.dynamics, options_.free.schedule);
  for (int n = 0; n < options_.nudged_steps; ++n) {
    if (swept != nullptr) {
      adjoint_sweep<S>(*swept, point, law_, cost_gradient_, static_cast<S>(options_.step), a, change_);
      continue;
    }
    law_.vjp(point, a, change_);
    change_ += cost_gradient_;
    mover.move(a, change_, flow_);
  }
  if (swept != nullptr) {  // what a sweep saw is not of one state
    law_.vjp(point, a, change_);
    change_ += cost_gradient_;
  }
  finish<S>(change_, a, report);
  const double visits = swept != nullptr ? static_cast<double>(swept->nodes()) : 1.0;
  report.nudged_time = timing.duration * visits * options_.nudged_steps;
  report.cost_in_forces += options_.nudged_steps;
  this->point_ = z;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  at.accumulate_parameter_gradient(a, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

template <class S>
SequenceReport DyadicEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  NUDGE_EXPECT(options_.free.schedule == RelaxationSchedule::parallel);  // needs::all_at_once
  free_.run(example, options_.free, report);
  Matrix<S>& m = this->point_;
  Matrix<S>& a = this->adjoint_;
  m = *example.state;
  a.setZero(m.rows(), m.cols());
  for (Matrix<S>* x : {&cost_gradient_, &change_, &force_}) x->resize(m.rows(), m.cols());
  const ReadTiming timing = begin_nudged_reads(example, options_);
  Mover<S> mover(options_.free.motion, options_.step, *example.dynamics);
  mover.start(m.rows(), m.cols(), flow_);
  mover.start(m.rows(), m.cols(), state_flow_);
  for (int n = 0; n < options_.nudged_steps; ++n) {
    Linearization<S>& at = example.dynamics->linearize(m);
    law_.vjp({example.dynamics, &at, &m, example.filter}, a, change_);
    example.cost->gradient(m, cost_gradient_);
    hold_at_rest<S>(*example.dynamics, at, m, cost_gradient_, force_);
    change_ += cost_gradient_;
    if (example.dynamics->noisy()) {  // the state goes on by reads of its own, not by what was stored for the adjoint
      example.dynamics->force(m, force_);
    } else {
      at.force(force_);
    }
    mover.move(a, change_, flow_);
    mover.advance(m, force_, state_flow_);
  }
  finish<S>(change_, a, report);
  report.nudged_time = timing.duration * options_.nudged_steps;
  report.cost_in_forces += 2.0 * options_.nudged_steps;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  example.dynamics->linearize(m).accumulate_parameter_gradient(a, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(m, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(LinearAdjointEstimator)
NUDGE_BOTH_PRECISIONS_OF(DyadicEstimator)

}  // namespace nudge
