// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/tracked.hpp"

#include <cmath>

#include "sim/lag.hpp"

namespace nudge {

template <class S>
SequenceReport TrackedEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  require_parallel("aep_tracked", options_.free.schedule);
  free_.run(example, options_.free, report);
  const Index tokens = example.state->rows();
  Lag<S> lag(options_.free.lag, options_.step, example.dynamics->inertia());
  const S beta = static_cast<S>(options_.beta);
  Matrix<S>& m = this->point_;
  this->nudged_states_ = &states_;
  for (Matrix<S>* x : {&force_, &cost_gradient_}) x->resize(2 * tokens, example.state->cols());
  for (Matrix<S>* x : {&half_, &asymmetry_}) x->resize(tokens, example.state->cols());
  const ReadTiming timing = begin_nudged_reads(example, options_);
  const auto relax = [&] {
    if (example.filter != nullptr) example.filter->restart();
    m = *example.state;
    states_ = example.state->replicate(2, 1);
    lag.start(states_.rows(), states_.cols(), flow_);
    for (int n = 0; n < options_.nudged_steps; ++n) {
      auto plus = states_.topRows(tokens);
      auto minus = states_.bottomRows(tokens);
      m = S(0.5) * (plus + minus);
      half_ = S(0.5) * (plus - minus);
      Linearization<S>& at = example.dynamics->linearize(m);
      law_.asymmetry({example.dynamics, &at, &m, example.filter}, half_, asymmetry_);
      example.dynamics->force(states_, force_);
      example.cost->gradient(states_, cost_gradient_);
      force_.topRows(tokens) -= beta * cost_gradient_.topRows(tokens) + asymmetry_;
      force_.bottomRows(tokens) += beta * cost_gradient_.bottomRows(tokens) + asymmetry_;
      lag.advance(states_, force_, flow_);
      if (const Box<S>* box = example.dynamics->box()) box->project(states_, {0, states_.cols()});
    }
  };
  const bool twice = example.measures_noise && example.dynamics->noisy();
  if (twice) {
    relax();
    again_ = states_;
  }
  relax();
  m = S(0.5) * (states_.topRows(tokens) + states_.bottomRows(tokens));
  this->adjoint_ = (states_.bottomRows(tokens) - states_.topRows(tokens)) / (S(2) * beta);
  if (const Box<S>* box = example.dynamics->box()) box->hold(states_, force_, force_, {0, states_.cols()});
  const auto half_force = (force_.topRows(tokens) - force_.bottomRows(tokens)) / S(2);
  const auto displacement = (states_.topRows(tokens) - states_.bottomRows(tokens)) / S(2);
  const double size = static_cast<double>(displacement.norm());
  report.nudged_residual = size > 0 ? static_cast<double>(half_force.norm()) / size : 0;
  report.nudge_ratio = size / static_cast<double>(m.norm());
  report.nudged = std::isfinite(report.nudged_residual) && std::isfinite(size) ? Status::max_steps : Status::diverged;
  report.nudged_time = 2.0 * timing.duration * options_.nudged_steps * (twice ? 2 : 1);
  const std::vector<double> betas = {options_.beta, -options_.beta};
  add_displacement<S>(states_, m, betas, options_.beta, asymmetry_, report.signal);
  if (twice) add_noise<S>(states_, again_, betas, options_.beta, report.signal);
  report.cost_in_forces += 5.0 * options_.nudged_steps;  // two states, the linearisation, one jvp, one vjp
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()) / std::sqrt(2.0), report)) return report;
  example.dynamics->linearize(m).accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(m, example.weight, *example.sink);
  return report;
}

template class TrackedEstimator<float>;
template class TrackedEstimator<double>;

}  // namespace nudge
