// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/estimators/estimator.hpp"

namespace nudge {

/// Backpropagation through the relaxation (BPTT): the gradient of the cost at z_T1 after T1 Euler steps from z_0 = x_in,
///     λ_T1 = ∂C/∂z,   λ_k = (1 + ε J(z_k)ᵀ) λ_{k+1},   dC/dθ = ε Σ_k ⟨λ_{k+1}, ∂F/∂θ(z_k)⟩,   dC/dz_0 = λ_0,
/// the reference for a truncated free phase. Stores the trajectory: (T1 + 1) states. Euler only, noise-free states
/// differentiated as they came.
template <class S>
class BackpropThroughTime final : public GradientEstimator<S> {
 public:
  explicit BackpropThroughTime(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(SequenceTask<S>& task) override;

 private:
  using GradientEstimator<S>::options_;
  std::vector<Matrix<S>> trajectory_;
  Matrix<S> force_, lambda_, change_;
};

}  // namespace nudge
