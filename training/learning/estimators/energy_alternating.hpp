// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/estimator.hpp"
#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// Alternating descent of  cost(z, E) + Σ_l F*_l(z, W_l)  (Ren et al., "Transformers as Intrinsic Optimizers", appendix A.1, Algorithms
/// 1 and 3): z settles in the energies alone, then every layer descends its own energy at the z that it has settled to and
/// with what it reads held, and the read-out E descends the cost,
///     gradient of W_l = ∂F*_l/∂W_l (z*; context),   gradient of E = ∂C/∂E (z*)
/// Local, one phase, no nudge. As printed nothing of the targets reaches W, and the tables of the input do not learn (footnote
/// 7). The energies know no cost: `adjoint` is 0.
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
