// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/echo.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/mover.hpp"
#include "sim/spectrum.hpp"

namespace nudge {

/// The way there: the state becomes the mean of the last states, last_ its end; scratch_.flow has the speeds.
template <class S>
void EchoEstimator<S>::go(Example<S>& example, SequenceReport& report) {
  example.dynamics->begin_reads(ReadClass::free);
  SettleOptions way = options_.free;
  way.final_residual = false;
  scratch_.each_step = [&](ConstMatrixRef<S> z, int steps) {
    if (steps == way.max_steps) last_ = z;
    if (example.watch != nullptr) example.watch->step(Phase::free, z, steps);
  };
  report.free = nudge::settle<S>(*example.dynamics, *example.state, way, scratch_);
  scratch_.each_step = nullptr;
  report.loss = example.cost->value(*example.state);
}

/// A force that is no gradient of an energy has an antisymmetric Jacobian somewhere. One random direction at the end of every example
/// finds it. Noise of reads hides it.
template <class S>
void EchoEstimator<S>::expect_energy(Example<S>& example) {
  if (example.dynamics->noisy()) return;
  constexpr int kProbes = 1;
  example.dynamics->begin_reads(ReadClass::monitor);
  Linearization<S>& at = example.dynamics->linearize(last_);
  const double share = asymmetry<S>(at, last_.rows(), last_.cols(), kProbes);
  const double rounding =
      100 * std::sqrt(static_cast<double>(last_.size())) * static_cast<double>(std::numeric_limits<S>::epsilon());
  if (share > rounding) {
    throw UserError(
        fmt::format("estimator = echo: {:.2g} of the force's Jacobian is not symmetric, so that no energy gives it and "
                    "its echo goes another "
                    "way. Use estimator = bptt, or a network whose coupling is reciprocal",
                    share));
  }
}

template <class S>
void EchoEstimator<S>::come_back(Example<S>& example, SequenceReport& report) {
  Dynamics<S>& dynamics = *example.dynamics;
  const SettleOptions& way = options_.free;
  const Index rows = last_.rows();
  const int steps = way.max_steps, averaged = std::min(way.average_last, steps);
  const double step = way.step * (1 + options_.clock_error);
  Mover<S> mover(way.motion, step, dynamics);
  states_ = last_.template replicate<2, 1>();
  speeds_ = -scratch_.flow.template replicate<2, 1>();
  const auto nudge = [&](Matrix<S>& f) {
    const S beta = static_cast<S>(options_.beta / averaged);
    f.topRows(rows) -= beta * cost_gradient_;
    f.bottomRows(rows) += beta * cost_gradient_;
  };
  const S weight = example.weight / static_cast<S>(2 * options_.beta);
  const std::array<S, 2> scales = {-weight, weight};  // of −∂E/∂θ at +β and −β
  dynamics.begin_reads(ReadClass::nudged);
  dynamics.set_read_timing(euler_timing(step, dynamics.leak(), way.motion));
  Driven<S>* driven = dynamics.driven();
  for (int n = steps; n > 0; --n) {
    // z_n with the speed that came to it: the force acts on the way there at every state but the end, and the nudge at the last ones.
    force_.setZero(states_.rows(), states_.cols());
    if (n < steps) dynamics.force(states_, force_);
    if (n > steps - averaged) nudge(force_);
    if (n < steps) {
      mover.move(states_, force_, speeds_);
    } else {
      mover.launch(states_, force_, speeds_);
    }
    if (driven != nullptr) driven->show_at(n - 1, steps);
    dynamics.begin_reads(ReadClass::correlation);
    if (!dynamics.accumulate_energy_gradient(states_, scales, *example.sink)) {
      throw UserError(
          "estimator = echo: the force has terms without an energy, or without the contrastive rule. Use bptt");
    }
    dynamics.begin_reads(ReadClass::nudged);
    if (example.watch != nullptr) example.watch->step(Phase::nudged, states_, steps - n + 1);
  }
  report.nudged_time = 2 * steps * euler_timing(step, dynamics.leak(), way.motion).duration;
  report.cost_in_forces += 4.0 * steps;
  this->adjoint_ = (states_.bottomRows(rows) - states_.topRows(rows)) / static_cast<S>(2 * options_.beta);
  this->point_ = (states_.bottomRows(rows) + states_.topRows(rows)) / S(2);
  this->nudged_states_ = &states_;
  report.nudged = states_.allFinite() ? Status::converged : Status::diverged;
}

template <class S>
SequenceReport EchoEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  go(example, report);
  report.cost_in_forces = report.free.force_evaluations;
  if (report.free.status == Status::diverged) {
    report.nudged = Status::diverged;
    this->adjoint_.setConstant(last_.rows(), last_.cols(), std::numeric_limits<S>::quiet_NaN());
    return report;
  }
  expect_energy(example);
  example.dynamics->begin_reads(ReadClass::stored);
  cost_gradient_.resize(last_.rows(), last_.cols());
  example.cost->gradient(*example.state, cost_gradient_);
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  come_back(example, report);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(EchoEstimator)

}  // namespace nudge
