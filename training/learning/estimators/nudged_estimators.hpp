// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "training/learning/estimators/estimator.hpp"
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
    double sign = 1;         ///< present sign of β

    /// Gives β of the nudges this sign.
    void turn(double to);
    /// a = star_weight z* + Σ w_k z_k of states side by side.
    void combine(const Matrix<S>& star, const Matrix<S>& states, Matrix<S>& a) const;
  };

  NudgedEstimator(NudgeLaw law, bool anchored, Nodes nodes, const EstimatorOptions& options)
      : GradientEstimator<S>(options), law_(law), anchored_(anchored), nodes_(std::move(nodes)) {}

  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return static_cast<Index>(nodes_.betas.size()); }
  bool correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) override;

 private:
  using GradientEstimator<S>::options_;
  Linearization<S>* at_ = nullptr;
  NudgeLaw law_;
  bool anchored_;
  Nodes nodes_;
  FreePhase<S> free_;
  NudgedPhase<S> nudged_;
};

/// Two phases (β, −β), or one for positive | negative.
template <class S>
typename NudgedEstimator<S>::Nodes sided_nodes(NudgeSides sides, double beta);

/// N real nudges at the Chebyshev points β_k = β cos((2k − 1)π/2N). Their weights differentiate the interpolating
/// polynomial of degree N − 1 at β = 0 exactly: error O(β^N) for even N (N = 2 is the centered difference). This is the
/// real-valued counterpart of the N-point holomorphic estimate (Laborieux & Zenke 2022, arXiv:2209.00530, eq. 11). Read
/// noise is averaged over the N states as by a lock-in. points even, ≥ 2.
template <class S>
typename NudgedEstimator<S>::Nodes chebyshev_nodes(int points, double beta);

/// The contrastive rule of equilibrium propagation (Scellier & Bengio 2017, arXiv:1602.05179, theorem 1) for a force that is minus the
/// gradient of an energy, F = −∂E/∂z. Nudged phases are as in ep, and
///     gradient of θ = Σ_k w_k ∂E/∂θ(z(β_k)) up to the sign of w:  centered  (1/2β) (∂E/∂θ(z₊) − ∂E/∂θ(z₋))
/// Every state is correlated with itself. Nothing of z* is kept, neither a linearisation nor a difference of states. The rule equals ep up to
/// O(β²) when centered, O(β) one-sided: ⟨a, ∂F/∂θ(z*)⟩ of ep is its first order.
///
/// coupled_learning (Stern, Hexner, Rocks & Liu, Phys. Rev. X 11 (2021) 021045) uses a clamped state, whose outputs are held at
///     v + η (v* − v) = v − η ∂C/∂v            C = ½ |v − v*|²,  v of the free state, η = beta
/// Every element sees (1/η) (∂E/∂θ(clamped) − ∂E/∂θ(free)); for resistors E is half the dissipated power. For η → 0 this is the slope of the
/// power that holds the outputs on their way, not of C. It is equilibrium propagation by the currents K ∂C/∂v in place of ∂C/∂v. K are the
/// conductances that the outputs see (the Schur complement of −J onto them). The rule is biased where K is no multiple of 1, and at finite η.
///
/// finite_nudge is for a system in a bath of temperature T (solver sample) and a nudge of any size (arXiv:2511.22024). States are drawn from
/// P_β(z) ∝ exp(−(E + β C)/T):
///     centered  (1/2β) (⟨∂E/∂θ⟩_β − ⟨∂E/∂θ⟩_−β),     one-sided  (1/β) (⟨∂E/∂θ⟩_β − ⟨∂E/∂θ⟩_0)
/// F_β = −T ln ∫ exp(−(E + β C)/T) has ∂F_β/∂θ = ⟨∂E/∂θ⟩_β. So this is the exact gradient of (F_β − F_−β)/2β, or of (F_β − F_0)/β = −(T/β)
/// ln⟨exp(−β C/T)⟩_0. Both become ⟨C⟩_0 in the limit of β → 0. A mean is taken over the last average_nudged of nudged_steps sweeps, each
/// state correlated with itself. Its error follows from the number of states, which are not independent.
template <class S>
class ContrastiveEstimator final : public GradientEstimator<S> {
 public:
  using Nodes = typename NudgedEstimator<S>::Nodes;
  ContrastiveEstimator(NudgeLaw law, Nodes nodes, const EstimatorOptions& options);

  /// UserError for a force that has no such rule.
  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return static_cast<Index>(nodes_.betas.size()) + (nodes_.star_weight != 0 ? 1 : 0); }
  bool correlate(Example<S>& example, const Matrix<S>& nudged, GradientSink<S>& sink) override;

 private:
  using GradientEstimator<S>::options_;
  bool drawn() const { return options_.free.solver == SettleSolver::sample; }
  void contrast(Example<S>& example, ConstMatrixRef<S> nudged, GradientSink<S>& sink, S share);

  NudgeLaw law_;
  Nodes nodes_;
  std::vector<S> scales_;
  Matrix<S> all_;
  FreePhase<S> free_;
  NudgedPhase<S> nudged_;
};

/// Alternating descent of  cost(z, E) + Σ_l F*_l(z, W_l)  (Ren et al., "Transformers as Intrinsic Optimizers", appendix A.1, Algorithms
/// 1 and 3): z settles in the energies alone. Then every layer descends its own energy at the settled z, with its inputs held, and the
/// read-out E descends the cost:
///     gradient of W_l = ∂F*_l/∂W_l (z*; context),   gradient of E = ∂C/∂E (z*)
/// Local, one phase, no nudge. As printed nothing of the targets reaches W, and the tables of the input do not learn (footnote 7). The
/// energies know no cost: `adjoint` is 0.
template <class S>
class EnergyAlternatingEstimator final : public GradientEstimator<S> {
 public:
  using GradientEstimator<S>::GradientEstimator;

  /// UserError for a system whose weights are not all in energies of its layers.
  SequenceReport estimate(Example<S>& example) override;
  Index copies() const override { return 1; }

 private:
  using GradientEstimator<S>::options_;
  FreePhase<S> free_;
};

}  // namespace nudge
