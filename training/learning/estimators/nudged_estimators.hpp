// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"
#include "training/learning/estimators/nudged_phase.hpp"

namespace nudge {

/// Equilibrium propagation with nudged phases from z*: the adjoint is the finite difference of nudged equilibria,
///     a = Σ_k w_k z(β_k),   gradient of θ = ⟨a, ∂F/∂θ(z*)⟩
/// with nodes β_k and weights w_k of the chosen sides: (β, −β) and (−1/2β, 1/2β) when centered. The law decides what the
/// non-conservative force does while nudged; anchored subtracts F(z*), which makes an unsettled z* harmless.
template <class S>
class NudgedEstimator final : public GradientEstimator<S> {
 public:
  /// Nodes and weights of the real-valued nudges, sides excluded: Σ w_k = 0, Σ w_k β_k = −1.
  struct Nodes {
    std::vector<double> betas, weights;
    double star_weight = 0;  ///< weight of z* itself (one-sided)
    double sign = 1;         ///< that β has now

    /// The same nudges with β of this sign.
    void turn(double to);
  };

  NudgedEstimator(NudgeLaw law, bool anchored, Nodes nodes, const EstimatorOptions& options)
      : GradientEstimator<S>(options), law_(law), anchored_(anchored), nodes_(std::move(nodes)) {}

  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return static_cast<Index>(nodes_.betas.size()); }

 private:
  using GradientEstimator<S>::options_;
  NudgeLaw law_;
  bool anchored_;
  Nodes nodes_;
  FreePhase<S> free_;
  NudgedPhase<S> nudged_;
};

/// Two phases (β, −β), or one for positive | negative.
template <class S>
typename NudgedEstimator<S>::Nodes sided_nodes(NudgeSides sides, double beta);

/// N real nudges at the Chebyshev points β_k = β cos((2k − 1)π/2N), weighted so that the interpolating polynomial of
/// degree N − 1 is differentiated at β = 0 exactly: error O(β^N) for even N (N = 2 is the centered difference), the
/// real-valued counterpart of the N-point holomorphic estimate (Laborieux & Zenke 2022, arXiv:2209.00530, eq. 11).
/// Read noise is averaged over the N states as by a lock-in. points even, ≥ 2.
template <class S>
typename NudgedEstimator<S>::Nodes chebyshev_nodes(int points, double beta);

}  // namespace nudge
