// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "training/learning/estimators/nudged_estimators.hpp"

namespace nudge {

/// The contrastive rule of equilibrium propagation (Scellier & Bengio 2017, arXiv:1602.05179, theorem 1) for a force that is
/// minus the gradient of an energy, F = −∂E/∂z: nudged phases as ep has them, and
///     gradient of θ = Σ_k w_k ∂E/∂θ(z(β_k)) up to the sign of w:  centered  (1/2β) (∂E/∂θ(z₊) − ∂E/∂θ(z₋))
/// so that every state is correlated with itself and nothing of z* is kept, no linearisation and no difference of states. Equals
/// ep, whose ⟨a, ∂F/∂θ(z*)⟩ is the first order of it, up to O(β²) when centered, O(β) one-sided.
template <class S>
class ContrastiveEstimator final : public GradientEstimator<S> {
 public:
  using Nodes = typename NudgedEstimator<S>::Nodes;
  ContrastiveEstimator(Nodes nodes, const EstimatorOptions& options)
      : GradientEstimator<S>(options), nodes_(std::move(nodes)) {}

  /// UserError for a force that has no such rule.
  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return static_cast<Index>(nodes_.betas.size()) + (nodes_.star_weight != 0 ? 1 : 0); }

 private:
  using GradientEstimator<S>::options_;
  void contrast(Example<S>& example, const Matrix<S>& nudged);

  Nodes nodes_;
  std::vector<S> scales_;
  Matrix<S> all_;
  FreePhase<S> free_;
  NudgedPhase<S> nudged_;
};

}  // namespace nudge
