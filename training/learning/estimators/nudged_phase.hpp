// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "training/learning/estimators/estimator.hpp"
#include "training/learning/estimators/nudged_dynamics.hpp"

namespace nudge {

/// Options by which nudged phases settle: as the free phase does, for T2 steps, which end in the mean of the last
/// average_nudged.
SettleOptions nudged_settling(const EstimatorOptions& options);

/// Nudged phases run side by side from z*, one per β. settle() relaxes NudgedDynamics with the solver, the schedule, the
/// amplifiers and the bounds of the free phase. It takes T2 steps and the mean of the last `average_nudged` states. With an
/// oscillating nudge (Oscillation) there is one copy, nudged by β sin ωt. The phase then returns z* + d with d the output of a
/// lock-in. To first order this is the state of a constant nudge β.
template <class S>
class NudgedPhase {
 public:
  /// Returns the final (or averaged) states, (k·T, C); valid until the next run. `at`: see NudgedDynamics::bind().
  const Matrix<S>& run(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas, NudgeLaw law,
                       bool anchored, const EstimatorOptions& options, SequenceReport& report);

  /// Called in the run that counts with the states, side by side, and the number of steps after every step (SettleWorkspace::each_step).
  std::function<void(ConstMatrixRef<S> z, int steps)> each_step;

  /// ‖∂C/∂z‖ that drove a state of the last run at its end, root mean square over the states.
  double drive() const { return drive_; }

 private:
  SettleResult relax(Example<S>& example, const EstimatorOptions& options, const SettleOptions& settling, bool counts);
  void keep(Example<S>& example, const EstimatorOptions& options, int averaged);
  bool turns_round(Index rows, SettleOptions settling);
  void measure(const Matrix<S>& z, const EstimatorOptions& options, const SettleResult& result, SequenceReport& report);

  NudgedDynamics<S> system_;
  SettleWorkspace<S> scratch_;
  LockIn<S> lock_in_;
  Matrix<S> states_, again_, displacement_;
  double drive_ = 0;
};

/// The state as its holds keep it: within its box.
template <class S>
void hold_state(const Dynamics<S>& dynamics, SampleHold<S>& hold, Matrix<S>& state, int samples) {
  hold.take(state, samples);
  if (const Box<S>* box = dynamics.box()) box->project(state, {0, state.cols()});
}

/// The free phase common to the estimators: settles example.state by free reads and stores the linearisation there. Fills in
/// the report's loss, cost and residual ‖F(z*)‖/‖z*‖, by monitor reads (of a noise-free dynamics the stored force). Returns
/// the linearisation at z*. settle() stores nothing; the residual is then always read.
template <class S>
class FreePhase {
 public:
  Linearization<S>& run(Example<S>& example, const SettleOptions& options, SequenceReport& report);
  void settle(Example<S>& example, const SettleOptions& options, SequenceReport& report);

 private:
  void relax(Example<S>& example, const SettleOptions& options, SequenceReport& report);
  void keep(Example<S>& example, const SettleOptions& options);
  void read_force(Example<S>& example);
  void finish(Example<S>& example, const SettleOptions& options, SequenceReport& report);

  SettleWorkspace<S> scratch_;
  Matrix<S> force_;
};

/// Tracked AEP: both nudged states advance together with the correction at the running midpoint,
///     m = (z₊ + z₋)/2,  y = (z₊ − z₋)/2,   z± ← z± + ε (F(z±) ∓ β ∂C/∂z(z±) ∓ (J(m) − J(m)ᵀ) y),
/// a = (z₋ − z₊)/2β, correlated at the last m. Needs no settled free phase and no anchor.
template <class S>
class TrackedEstimator final : public GradientEstimator<S> {
 public:
  explicit TrackedEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;
  bool correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  SettleWorkspace<S> scratch_;
  Matrix<S> states_, force_, displacement_, again_;
};

}  // namespace nudge
