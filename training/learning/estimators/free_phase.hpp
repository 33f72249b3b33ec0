// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// The state as its holds keep it: within its box.
template <class S>
void hold_state(const Dynamics<S>& dynamics, SampleHold<S>& hold, Matrix<S>& state, int samples) {
  hold.take(state, samples);
  if (const Box<S>* box = dynamics.box()) box->project(state, {0, state.cols()});
}

/// The free phase common to the estimators: settles example.state by free reads, stores the linearisation there, and fills in
/// the report's residual ‖F(z*)‖/‖z*‖ by monitor reads (of a noise-free dynamics the stored force), loss and cost. Returns
/// the linearisation at z*. settle() does the same without storing anything there: the residual is then always read.
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

}  // namespace nudge
