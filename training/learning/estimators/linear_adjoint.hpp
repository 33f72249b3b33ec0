// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Recurrent backpropagation (Almeida 1987, Pineda 1987): the nudged phase of AEP in the limit β → 0, one phase, no jvp:
///     a ← a + ε (J_F(z*)ᵀ a + ∂C/∂z(z*)),  T2 times from a = 0.
template <class S>
class LinearAdjointEstimator final : public GradientEstimator<S> {
 public:
  explicit LinearAdjointEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_, change_, flow_;
  NudgedLaw<S> law_;
};

/// Dyadic equilibrium propagation (Scurria et al. 2026, arXiv:2602.03670): midpoint and half difference as two states,
///     from the OLD m: a ← a + ε (J_F(m)ᵀ a + ∂C/∂z(m)),  m ← m + ε F(m),  T2 times from m = z*, a = 0.
/// No β; correlated at the last m.
template <class S>
class DyadicEstimator final : public GradientEstimator<S> {
 public:
  explicit DyadicEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_, change_, force_, flow_, state_flow_;
  NudgedLaw<S> law_;
};

}  // namespace nudge
