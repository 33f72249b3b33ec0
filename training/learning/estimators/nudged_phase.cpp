// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/nudged_phase.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// A nudged phase that still moves by more than 1 % of the displacement per τ has not settled: the truncation error of the
/// adjoint is of that order (notes on the measured decay of the nudged transient).
constexpr double kSettledNudge = 1e-2;

/// |z - z*|/|z*| below which a cost's current is about linear: steps that overshoot grow beyond it.
constexpr double kLargeNudge = 0.1;

}  // namespace

SettleOptions nudged_settling(const EstimatorOptions& options) {
  SettleOptions settling = options.free;
  settling.max_steps = options.nudged_steps;
  settling.step = options.step;
  settling.tolerance = 0;
  settling.average_last = std::clamp(options.average_nudged, 1, std::max(1, options.nudged_steps));
  settling.final_residual = settling.step_residuals = false;
  if (options.oscillation.on()) settling.average_last = 1;
  return settling;
}

/// states_ ← where the copies of z* are taken.
template <class S>
SettleResult NudgedPhase<S>::relax(Example<S>& example, const EstimatorOptions& options, const SettleOptions& settling,
                                   bool counts) {
  const Matrix<S>& z = *example.state;
  states_.resize(system_.rows(), z.cols());
  system_.start(states_);
  if (example.filter != nullptr) example.filter->restart();
  example.dynamics->begin_reads(ReadClass::nudged);
  scratch_.each_step = nullptr;
  if (counts && example.watch != nullptr) example.watch->step(Phase::nudged, states_, 0);
  if (counts && (example.watch != nullptr || each_step)) {
    scratch_.each_step = [&](ConstMatrixRef<S> state, int steps) {
      if (example.watch != nullptr) example.watch->step(Phase::nudged, state, steps);
      if (each_step) each_step(state, steps);
    };
  }
  if (options.oscillation.on()) {
    system_.set_beta(options.beta * lock_in_.drive(0));
    scratch_.each_step = [&](ConstMatrixRef<S> state, int steps) {
      displacement_ = state;
      // A sample of the state: offsets stand still, and noise falls with how many there are.
      if (example.hold != nullptr && steps > lock_in_.steps() - lock_in_.listened()) {
        example.hold->take(displacement_, 1);
      }
      displacement_ -= z;
      lock_in_.take(steps - 1, displacement_);
      if (steps < lock_in_.steps()) system_.set_beta(options.beta * lock_in_.drive(steps));
    };
  }
  return settle<S>(system_, states_, settling, scratch_);
}

/// states_ ← what is kept of them: by sample-and-holds, or by the lock-in.
template <class S>
void NudgedPhase<S>::keep(Example<S>& example, const EstimatorOptions& options, int averaged) {
  if (options.oscillation.on()) {
    states_ = *example.state + lock_in_.output();
  } else if (example.hold != nullptr) {
    example.hold->take(states_, averaged);
  }
}

/// Whether steps go to and fro: one of the next ones takes a copy back by as much as the last has moved it.
template <class S>
bool NudgedPhase<S>::turns_round(Index rows, SettleOptions settling) {
  settling.max_steps = settling.window;
  settling.average_last = 1;
  settling.final_residual = false;
  Matrix<S> z = states_, before = z, move = Matrix<S>::Zero(z.rows(), z.cols()), last = move;
  bool round = false;
  scratch_.each_step = [&](ConstMatrixRef<S> state, int steps) {
    last.swap(move);
    move = state - before;
    before = state;
    for (Index row = 0; steps > 1 && row < z.rows(); row += rows) {
      const auto now = move.middleRows(row, rows), then = last.middleRows(row, rows);
      const auto size = static_cast<double>(then.squaredNorm());
      const bool moves = std::sqrt(size) > settling.step * kSettledNudge * static_cast<double>(state.norm());
      round = round || (moves && -static_cast<double>(now.cwiseProduct(then).sum()) >= 0.99 * size);
    }
  };
  settle<S>(system_, z, settling, scratch_);
  scratch_.each_step = nullptr;
  return round;
}

/// What still pushes the states, over how far the nudge has moved them; what the last period of an oscillating one changed.
template <class S>
void NudgedPhase<S>::measure(const Matrix<S>& z, const EstimatorOptions& options, const SettleResult& result,
                             SequenceReport& report) {
  const bool swings = options.oscillation.on();
  const Index copies = states_.rows() / z.rows();
  double displacement = 0;
  if (swings) {
    displacement = static_cast<double>(lock_in_.output().norm());
    report.nudged_residual = lock_in_.change();
  } else {
    double squares = 0;
    for (Index row = 0; row < states_.rows(); row += z.rows()) {
      squares += static_cast<double>((states_.middleRows(row, z.rows()) - z).squaredNorm());
    }
    displacement = std::sqrt(squares);
    const bool swept = sweeping<S>(system_, options.free.schedule) != nullptr && system_.settled_by_sweep();
    const double pushed =
        swept ? system_.left_by_sweep(states_) : result.residual * static_cast<double>(states_.norm());
    report.nudged_residual = displacement > 0 ? pushed / displacement : pushed;
  }
  report.nudge_ratio = displacement / (std::sqrt(static_cast<double>(copies)) * static_cast<double>(z.norm()));
  report.nudged = Status::max_steps;
  if (result.status == Status::diverged || !std::isfinite(displacement) || !std::isfinite(report.nudged_residual)) {
    report.nudged = Status::diverged;
  } else if (options.free.solver == SettleSolver::direct && result.status == Status::stalled) {
    report.nudged = Status::stalled;
  } else if (report.nudged_residual <= kSettledNudge) {
    report.nudged = Status::converged;
  } else if (!swings && system_.may_overshoot() && report.nudge_ratio > kLargeNudge &&
             std::isfinite(report.nudge_ratio) && turns_round(z.rows(), nudged_settling(options))) {
    report.nudged = Status::diverged;
  }
}

template <class S>
const Matrix<S>& NudgedPhase<S>::run(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas,
                                     NudgeLaw law, bool anchored, const EstimatorOptions& options,
                                     SequenceReport& report) {
  const bool swings = options.oscillation.on();
  SettleOptions settling = nudged_settling(options);
  const bool sweeps = sweeping(*example.dynamics, settling.schedule) != nullptr;
  NUDGE_EXPECT(!swings || (!sweeps && steps_in_time(settling.solver)));  // phase_needs()
  system_.bind(example, at, betas, law, anchored, options);
  const ReadTiming timing = begin_nudged_reads(example, options);
  const bool noisy = example.dynamics->noisy();
  const bool twice = example.measures_noise && (noisy || example.hold != nullptr);
  const auto phase = [&](bool counts) {
    if (swings) {
      lock_in_.start(options.oscillation, timing.duration, example.state->rows(), example.state->cols());
      settling.max_steps = lock_in_.steps();
    }
    return relax(example, options, settling, counts);
  };
  SettleResult result;
  if (twice) {
    result = phase(false);
    keep(example, options, settling.average_last);
    again_ = states_;
  }
  // The force of the last step serves as the residual of a noise-free phase: that of a noisy one has the noise of that step in
  // it, and that of a sweep is not of one state.
  const bool stepped = steps_in_time(settling.solver) && !sweeps && settling.average_last == 1;
  settling.final_residual = !swings && (noisy || !stepped) && !(sweeps && system_.settled_by_sweep());
  const double forces = result.force_evaluations, time = result.time;
  result = phase(true);
  measure(*example.state, options, result, report);
  drive_ = system_.drive();
  keep(example, options, settling.average_last);
  report.clipped += system_.clipped();
  if (report.nudged == Status::diverged) {
    // Where a phase was stopped on its way out says nothing of a gradient, nor of a signal: such a step is skipped.
    states_.setConstant(std::numeric_limits<S>::quiet_NaN());
  } else {
    add_displacement<S>(states_, *example.state, betas, options.beta, displacement_, report.signal);
    if (twice) add_noise<S>(states_, again_, betas, options.beta, report.signal);
  }
  // One solver moves the copies side by side; a circuit runs its phases one after the other. A direct solution has summed them.
  const double copies = static_cast<double>(betas.size());
  report.nudged_time = (time + result.time) * (settling.solver == SettleSolver::direct ? 1 : copies);
  const bool plain = law == NudgeLaw::plain || law == NudgeLaw::clamped;
  const double per_step = plain ? 1 : (law == NudgeLaw::transposed ? 2 : 3);
  report.cost_in_forces += per_step * copies * (forces + result.force_evaluations);
  return states_;
}

NUDGE_BOTH_PRECISIONS_OF(NudgedPhase)

}  // namespace nudge
