// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Coupled learning (Stern, Hexner, Rocks & Liu, Phys. Rev. X 11 (2021) 021045) of a system that solves itself (Direct) and whose force is
/// minus the gradient of an energy E, half the dissipated power of resistors: in the clamped state the outputs are held at
///     v + η (v* − v) = v − η ∂C/∂v            C = ½ |v − v*|²,  v of the free state, η = beta
/// and what every element sees of the two states is its rule, (1/η) (∂E/∂θ(clamped) − ∂E/∂θ(free)). For η → 0 it is the slope of the
/// power that holds the outputs on their way, not of C: equilibrium propagation by the currents K ∂C/∂v in place of ∂C/∂v, K the
/// conductances that the outputs see (the Schur complement of −J onto them). Where K is no multiple of 1, and at finite η, it is biased.
template <class S>
class CoupledLearningEstimator final : public GradientEstimator<S> {
 public:
  explicit CoupledLearningEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}

  /// UserError for a system that does not solve itself, a force without such a rule, or another cost than squared error.
  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return 2; }

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
  Matrix<S> states_, cost_gradient_, clamped_, force_;
};

}  // namespace nudge
