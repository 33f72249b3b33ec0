// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Backpropagation through the relaxation (BPTT): the gradient of the cost at z_T1 after T1 Euler steps from z_0 = x_in,
///     λ_T1 = ∂C/∂z,   λ_k = (1 + ε J(z_k)ᵀ) λ_{k+1},   dC/dθ = ε Σ_k ⟨λ_{k+1}, ∂F/∂θ(z_k)⟩,   dC/dz_0 = λ_0,
/// the reference for a truncated free phase; a tolerance, the mean of the last states and amplifiers (sim/lag.hpp) are
/// unrolled with it. Stores the trajectory: (T1 + 1) states, and what derivatives
/// need of each where the dynamics can keep it (KeptPoints). Of a system in a
/// box, λ passes a projection where it did not clip. Euler only. On noisy arrays the states are differentiated as
/// they came, with the derivatives of the noise-free circuit there.
template <class S>
class BackpropThroughTime final : public GradientEstimator<S> {
 public:
  explicit BackpropThroughTime(const EstimatorOptions& options) : GradientEstimator<S>(options) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  S force_norm(Example<S>& example);
  std::size_t forward(Example<S>& example, SequenceReport& report);
  void backward(Example<S>& example, std::size_t steps);
  SequenceReport through_sweep(Example<S>& example);

  FreePhase<S> free_;
  std::vector<Matrix<S>> trajectory_;
  ReadTiming timing_;              ///< of one step
  KeptPoints<S>* kept_ = nullptr;  ///< the dynamics keeps its linearisation at every step
  int averaged_ = 1;               ///< states that the final one is the mean of
  Matrix<S> end_;                  ///< of the last step, of a system in a box
  Matrix<S> held_, force_, flow_, mean_, cost_gradient_, lambda_, mu_, change_;
};

}  // namespace nudge
