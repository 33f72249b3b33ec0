// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/adjoint_estimators.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/mover.hpp"
#include "sim/steady/monitor.hpp"

namespace nudge {

/// ‖F‖ of what can move the state.
template <class S>
S BackpropThroughTime<S>::force_norm(Example<S>& example) {
  const Box<S>* box = example.dynamics->box();
  if (box == nullptr) return force_.norm();
  held_ = force_;
  box->hold(*example.state, force_, held_, {0, held_.cols()});
  return held_.norm();
}

/// As settle() with euler: stops at the tolerance, else returns the mean of the last states where that is asked for.
template <class S>
std::size_t BackpropThroughTime<S>::forward(Example<S>& example, SequenceReport& report) {
  const SettleOptions& options = options_.free;
  Matrix<S>& z = *example.state;
  Mover<S> mover(options.motion, options.step, *example.dynamics, nullptr);
  mover.start(z.rows(), z.cols(), flow_);
  averaged_ = std::min(options.average_last, options.max_steps);
  mean_.setZero(z.rows(), z.cols());
  const Box<S>* box = example.dynamics->box();
  const auto most = static_cast<std::size_t>(options.max_steps);
  trajectory_.resize(most);
  kept_ = example.dynamics->kept_points();
  report.free.status = Status::max_steps;
  std::size_t steps = 0;
  Driven<S>* driven = example.dynamics->driven();
  for (; steps < most; ++steps) {
    if (driven != nullptr) driven->show_at(static_cast<Index>(steps), options.max_steps);
    trajectory_[steps] = z;
    if (kept_ != nullptr) {
      kept_->remember(z, force_, steps);
    } else {
      example.dynamics->force(z, force_);
    }
    ++report.free.force_evaluations;
    if (options.tolerance > 0 && force_norm(example) <= static_cast<S>(options.tolerance) * z.norm()) {
      report.free.status = Status::converged;
      averaged_ = 1;
      break;
    }
    mover.advance(z, force_, flow_);
    if (averaged_ > 1 && steps + static_cast<std::size_t>(averaged_) >= most) mean_ += z;
  }
  if (box != nullptr) end_ = z;
  if (averaged_ > 1) z = mean_ / static_cast<S>(averaged_);
  report.free.steps = static_cast<int>(steps);
  report.free.time = timing_.duration * static_cast<double>(steps);
  return steps;
}

// Steps of sim/mover.hpp, backwards: λ is the adjoint of z, μ that of its speed. The mean of the last n states feeds ∂C/∂z/n into
// each of them.
template <class S>
void BackpropThroughTime<S>::backward(Example<S>& example, std::size_t steps) {
  const Mover<S> mover(options_.free.motion, options_.free.step, *example.dynamics, nullptr);
  Driven<S>* driven = example.dynamics->driven();
  lambda_ = averaged_ > 1 ? Matrix<S>(cost_gradient_ / static_cast<S>(averaged_)) : cost_gradient_;
  mover.start(lambda_.rows(), lambda_.cols(), mu_);
  for (std::size_t k = steps; k-- > 0;) {
    if (driven != nullptr) driven->show_at(static_cast<Index>(k), options_.free.max_steps);
    mover.pull(k + 1 < steps ? trajectory_[k + 1] : end_, lambda_, mu_, push_);
    Linearization<S>& at = kept_ != nullptr ? kept_->recall(k) : example.dynamics->linearize(trajectory_[k]);
    at.accumulate(push_, example.weight, *example.sink, change_);
    if (example.watch != nullptr) example.watch->pull(at, push_, 1);
    lambda_ += change_;
    if (averaged_ > 1 && k > 0 && k + static_cast<std::size_t>(averaged_) > steps) {
      lambda_ += cost_gradient_ / static_cast<S>(averaged_);
    }
  }
}

/// Sweeps of unit steps over a feed-forward system forget where they started: the derivative of their end is one sweep of
/// transposed reads down the nodes.
template <class S>
SequenceReport BackpropThroughTime<S>::through_sweep(Example<S>& example) {
  SequenceReport report;
  Matrix<S>& z = *example.state;
  Layered<S>* layered = example.dynamics->layered();
  NUDGE_EXPECT(layered != nullptr && example.dynamics->traits().feed_forward && example.dynamics->traits().leak == 1.0);
  NUDGE_EXPECT(options_.free.step == 1.0);
  compute_derivatives(example);
  Linearization<S>& at = free_.run(example, options_.free, report);
  example.dynamics->begin_reads(ReadClass::stored);
  report.nudged = Status::max_steps;
  for (Matrix<S>* x : {&lambda_, &change_, &cost_gradient_}) x->resize(z.rows(), z.cols());
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  example.cost->gradient(z, cost_gradient_);
  lambda_ = cost_gradient_;
  bool pulled = true;
  for (std::size_t node = layered->nodes(); pulled && node-- > 0;) {
    pulled = layered->node_pullback(lambda_, example.weight, *example.sink, node);
  }
  if (!pulled) {
    lambda_.setZero();
    NudgedLaw<S> law;
    adjoint_sweep<S>(*layered, {example.dynamics, &at, example.state}, law, cost_gradient_, S(1), lambda_, change_);
    at.accumulate_parameter_gradient(lambda_, example.weight, *example.sink);
  }
  report.cost_in_forces += 2;
  this->adjoint_ = lambda_;
  this->point_ = z;
  return report;
}

template <class S>
SequenceReport BackpropThroughTime<S>::estimate(Example<S>& example) {
  NUDGE_EXPECT(steps_in_time(options_.free.solver));
  if (options_.free.schedule == RelaxationSchedule::sweep) return through_sweep(example);
  SequenceReport report;
  Matrix<S>& z = *example.state;
  for (Matrix<S>* x : {&force_, &lambda_, &change_, &cost_gradient_}) x->resize(z.rows(), z.cols());
  compute_derivatives(example);
  example.dynamics->begin_reads(ReadClass::free);
  timing_ = euler_timing(options_.free.step, example.dynamics->leak(), options_.free.motion);
  example.dynamics->set_read_timing(timing_);
  const std::size_t steps = forward(example, report);
  example.dynamics->begin_reads(ReadClass::monitor);
  example.dynamics->force(z, force_);
  ++report.free.force_evaluations;
  report.free.residual = relative_residual(static_cast<double>(force_norm(example)), static_cast<double>(z.norm()));
  if (!std::isfinite(report.free.residual)) report.free.status = Status::diverged;
  if (example.dynamics->driven() != nullptr && z.allFinite()) report.free.residual = 0;  // of a trajectory: none
  report.loss = example.cost->value(z);
  example.dynamics->begin_reads(ReadClass::stored);
  report.nudged = Status::max_steps;
  report.cost_in_forces = 3.0 * static_cast<double>(steps) + 1;
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  example.cost->gradient(z, cost_gradient_);
  backward(example, steps);
  *example.initial_state_gradient += example.weight * lambda_;
  this->adjoint_ = lambda_;
  this->point_ = z;
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(BackpropThroughTime)

}  // namespace nudge
