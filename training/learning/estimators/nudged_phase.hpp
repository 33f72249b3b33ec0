// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "training/learning/estimators/nudged_dynamics.hpp"

namespace nudge {

/// How nudged phases settle: as the free phase does, for T2 steps, which end in the mean of the last average_nudged.
SettleOptions nudged_settling(const EstimatorOptions& options);

/// Nudged phases run side by side from z*, one per β: NudgedDynamics relaxed by settle() with the solver, the schedule, the
/// amplifiers and the bounds of the free phase, T2 steps and the mean of the last `average_nudged` states.
/// With an oscillating nudge (Oscillation) there is one copy, nudged by β sin ωt. The phase then returns z* + d, d the output of a
/// lock-in: to first order the state of a constant nudge β.
template <class S>
class NudgedPhase {
 public:
  /// Returns the final (or averaged) states, (k·T, C); valid until the next run. `at`: see NudgedDynamics::bind().
  const Matrix<S>& run(Example<S>& example, Linearization<S>* at, const std::vector<double>& betas, NudgeLaw law,
                       bool anchored, const EstimatorOptions& options, SequenceReport& report);

  /// ‖∂C/∂z‖ that drove a state of the last run at its end, root mean square over the states.
  double drive() const { return drive_; }

 private:
  SettleResult relax(Example<S>& example, const EstimatorOptions& options, const SettleOptions& settling);
  void keep(Example<S>& example, const EstimatorOptions& options, int averaged);
  void measure(const Matrix<S>& z, const EstimatorOptions& options, const SettleResult& result, SequenceReport& report);

  NudgedDynamics<S> system_;
  SettleWorkspace<S> scratch_;
  LockIn<S> lock_in_;
  Matrix<S> states_, again_, displacement_;
  double drive_ = 0;
};

}  // namespace nudge
