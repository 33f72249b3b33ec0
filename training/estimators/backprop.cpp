// SPDX-License-Identifier: Apache-2.0
#include "training/estimators/backprop.hpp"

#include <cmath>

namespace nudge {

template <class S>
SequenceReport BackpropThroughTime<S>::estimate(SequenceTask<S>& task) {
  SequenceReport report;
  Matrix<S>& z = *task.state;
  const S step = static_cast<S>(options_.free.step);
  const auto steps = static_cast<std::size_t>(options_.free.max_steps);
  trajectory_.resize(steps);
  for (Matrix<S>* x : {&force_, &lambda_, &change_}) x->resize(z.rows(), z.cols());
  task.dynamics->set_read_interval(options_.free.step);
  for (Matrix<S>& at : trajectory_) {
    at = z;
    task.dynamics->force(z, force_);
    z += step * force_;
  }
  task.dynamics->force(z, force_);
  report.free.steps = options_.free.max_steps;
  report.free.force_evaluations = options_.free.max_steps + 1;
  report.free.time = options_.free.step * options_.free.max_steps;
  report.free.residual = static_cast<double>(force_.norm()) / static_cast<double>(z.norm());
  report.free.status = std::isfinite(report.free.residual) ? Status::max_steps : Status::diverged;
  report.loss = task.cost->value(z);
  report.nudged = Status::max_steps;
  report.cost_in_forces = 3.0 * options_.free.max_steps + 1;
  task.cost->accumulate_parameter_gradient(z, task.weight, *task.sink);
  task.cost->gradient(z, lambda_);
  for (std::size_t k = steps; k-- > 0;) {
    Linearization<S>& at = task.dynamics->linearize(trajectory_[k]);
    at.accumulate_parameter_gradient(lambda_, step * task.weight, *task.sink);
    at.vjp(lambda_, change_);
    lambda_ += step * change_;
  }
  *task.initial_state_gradient += task.weight * lambda_;
  this->adjoint_ = lambda_;
  this->point_ = z;
  return report;
}

template class BackpropThroughTime<float>;
template class BackpropThroughTime<double>;

}  // namespace nudge
