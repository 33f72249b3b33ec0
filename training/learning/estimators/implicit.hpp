// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/free_phase.hpp"

namespace nudge {

/// How the exact adjoint is solved.
enum class AdjointSolver { gmres, dense, direct };

/// Implicit differentiation, the exact reference: solves J_F(z*)ᵀ a = −∂C/∂z(z*) by GMRES on the vjp, or densely with
/// J built column by column (T·C unknowns, T·C at most 4096: 134 MB in double), or by the one transposed solution of a system that
/// solves itself (Direct), the adjoint network of a circuit. At a fixed point a = dC/dx_in exactly.
/// On units that rest on a bound of their box a is 0.
template <class S>
class ImplicitEstimator final : public GradientEstimator<S> {
 public:
  ImplicitEstimator(AdjointSolver solver, const EstimatorOptions& options)
      : GradientEstimator<S>(options), solver_(solver) {}
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  void solve_dense(Linearization<S>& at, const Matrix<S>& moving);
  void solve_direct(Example<S>& example, SequenceReport& report);
  void solve_gmres(Linearization<S>& at, SequenceReport& report);

  AdjointSolver solver_;
  FreePhase<S> free_;
  Matrix<S> cost_gradient_;
};

}  // namespace nudge
