// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Tracked AEP: both nudged states advance together with the correction at the running midpoint,
///     m = (z₊ + z₋)/2,  y = (z₊ − z₋)/2,   z± ← z± + ε (F(z±) ∓ β ∂C/∂z(z±) ∓ (J(m) − J(m)ᵀ) y),
/// a = (z₋ − z₊)/2β, correlated at the last m. Needs no settled free phase and no anchor.
template <class S>
class TrackedEstimator final : public GradientEstimator<S> {
 public:
  explicit TrackedEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  SettleWorkspace<S> scratch_;
  Matrix<S> states_, force_, displacement_, again_;
};

}  // namespace nudge
