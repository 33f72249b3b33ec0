// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "training/learning/estimators/free_phase.hpp"
#include "training/learning/estimators/nudged_estimators.hpp"

namespace nudge {

/// The rule of a system in a bath of temperature T, states drawn from P_β(z) ∝ exp(−(E + β C)/T), for a nudge of any size
/// (arXiv:2511.22024):
///     centered  (1/2β) (⟨∂E/∂θ⟩_β − ⟨∂E/∂θ⟩_−β),     one-sided  (1/β) (⟨∂E/∂θ⟩_β − ⟨∂E/∂θ⟩_0)
/// F_β = −T ln ∫ exp(−(E + β C)/T) has ∂F_β/∂θ = ⟨∂E/∂θ⟩_β, so that this is the exact gradient of (F_β − F_−β)/2β, or of
/// (F_β − F_0)/β = −(T/β) ln⟨exp(−β C/T)⟩_0, each ⟨C⟩_0 in the limit of β → 0. A mean is that over the last average_nudged of
/// nudged_steps sweeps, each state correlated with itself; its error is that of so many states, which are not independent.
template <class S>
class FiniteNudgeEstimator final : public GradientEstimator<S> {
 public:
  using Nodes = typename NudgedEstimator<S>::Nodes;
  /// Without a weight of the free state: a phase of β = 0 has its own.
  FiniteNudgeEstimator(Nodes nodes, const EstimatorOptions& options)
      : GradientEstimator<S>(options), nodes_(std::move(nodes)) {}

  /// UserError for a system without a bath or an energy, and for binary units of another cost than squared error.
  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return static_cast<Index>(nodes_.betas.size()); }

 private:
  using GradientEstimator<S>::options_;
  void sample(Example<S>& example);
  void pull(Example<S>& example, MatrixRef<S> f, bool binary);

  Nodes nodes_;
  FreePhase<S> free_;
  Matrix<S> states_, means_, force_, cost_, middle_;
  std::vector<S> scales_, loads_;
};

/// Phases at β and −β, or at β (−β) and 0.
template <class S>
typename NudgedEstimator<S>::Nodes finite_nodes(NudgeSides sides, double beta);

}  // namespace nudge
