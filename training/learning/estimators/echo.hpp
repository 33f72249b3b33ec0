// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/estimators/estimator.hpp"

namespace nudge {

/// Gradient of a trajectory by its echo: recurrent Hamiltonian echo learning (Pourcel and Ernoult 2025, arXiv:2506.05259). Nodes with
/// mass M and without friction move under the force −∂E/∂z of an energy, driven by inputs that change in time:
///     z_{n+1} = z_n + ε y_{n+1},   y_{n+1} = y_n − (ε/M) ∂E/∂z(z_n, t_n)        (sim/mover.hpp)
/// Afterwards the speeds are turned round and the inputs run backwards. Undisturbed, the state goes back the way it came, to rounding. A
/// current −β ∂C/∂z at the end deflects this echo. Where the cost acts on the mean of the last n states, each of them gets −β ∂C/∂z/n. Then
///     dC/dθ = Σ_n [∂E/∂θ(z_n^{+β}) − ∂E/∂θ(z_n^{−β})]/2β + O(β²)
/// is the gradient of the discrete trajectory, as bptt has it, by the contrastive rule at the states of the way back. Both deflections run
/// side by side; a circuit runs them one after the other. Friction, read noise and EstimatorOptions::clock_error keep the echo from its way.
template <class S>
class EchoEstimator final : public GradientEstimator<S> {
 public:
  explicit EchoEstimator(const EstimatorOptions& options) : GradientEstimator<S>(options) {}

  /// UserError where the noise-free Jacobian at the end is not symmetric: then there is no such energy.
  SequenceReport estimate(Example<S>& example) override;

 private:
  using GradientEstimator<S>::options_;
  void go(Example<S>& example, SequenceReport& report);
  void come_back(Example<S>& example, SequenceReport& report);
  void expect_energy(Example<S>& example);

  SettleWorkspace<S> scratch_;
  Matrix<S> last_, cost_gradient_, states_, speeds_, force_;
};

}  // namespace nudge
