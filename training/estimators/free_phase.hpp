// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/estimators/estimator.hpp"

namespace nudge {

/// The free phase common to the estimators: settles task.state, linearises there, and fills the report's residual from
/// the stored F(z*) (no second evaluation), loss and cost. Returns the linearisation at z*.
template <class S>
class FreePhase {
 public:
  Linearization<S>& run(SequenceTask<S>& task, const SettleOptions& options, SequenceReport& report);

  /// F(z*) stored by the last run, (T, C).
  const Matrix<S>& force() const { return force_; }

 private:
  SettleWorkspace<S> scratch_;
  Matrix<S> force_;
};

}  // namespace nudge
