// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "training/batch/batch_gradient.hpp"

namespace nudge {

/// Equilibrium network as a layer of another model. Its clamp is x (B·rows, inputs), given as numbers; its output is
/// the equilibrium z* (B·rows, cols) of B examples. Read-out and embedding are left to the surrounding model.
///
/// pull_back() takes u = ∂L/∂z*, a number for every unit, and estimates the gradients of parameters and input with any
/// gradient estimator. The cost is C(z) = ⟨u, z⟩, whose nudge is a constant current:
///     a ≈ −J⁻ᵀ u,    ∂L/∂θ = ⟨a, ∂F/∂θ⟩,    ∂L/∂x = (∂F/∂x)ᵀ a      (implicit function theorem, at F(z*) = 0)
/// The nudge is per row, as with a cost: u is divided by its rms over the nonzero rows, and the gradient multiplied by
/// it. So beta means what it means in training, and so do the offset and noise of multipliers (Correlators), one
/// product for every row. Examples are independent and run in parallel. Sums are over fixed chunks in fixed order: the
/// bits do not depend on the threads.
template <class S>
class EquilibriumLayer {
 public:
  EquilibriumLayer(const Network<S>& network, const BatchGradientOptions& options);
  ~EquilibriumLayer();

  /// Computes z* (B·rows, cols) by free reads and returns the outcome of each example; `step` names the read noise.
  std::vector<SettleResult> settle(ConstMatrixRef<S> x, std::uint64_t step, Matrix<S>& z);

  /// Settles again, to the same z* for the same step, and pulls u (B·rows, cols) back. Sets gradient to ∂L/∂θ and x_gradient
  /// (B·rows, inputs) to ∂L/∂x. Embedding and read-out get no gradient.
  std::vector<SequenceReport> pull_back(ConstMatrixRef<S> x, ConstMatrixRef<S> u, std::uint64_t step,
                                        Gradient<S>& gradient, Matrix<S>& x_gradient);

 private:
  struct Worker;
  void bind(Worker& w, ConstMatrixRef<S> x, Index example, std::uint64_t step);

  const Network<S>* network_;
  BatchGradientOptions options_;
  std::optional<Correlators<S>> correlators_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace nudge
