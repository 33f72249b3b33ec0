// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// A deep resistive network whose nodes have a capacitance C, equal in all: C dv/dt = I. One sample per row. Its states are
/// u_l = v_l/(A_1 ⋯ A_{l−1}) = √c_l v_l, V, in which the amplifiers vanish and the force is conservative (symmetric J):
///     τ du_l/dt = F_l(u) = √c_l I_l(v)/G_ref = −(1/G_ref) ∂E/∂u_l,   τ = C/G_ref,   G_ref = the largest node conductance
/// so the eigenvalues of −J lie in (0, 2]: explicit Euler with a step below 1 settles. Diodes bound the state: the force of
/// the free motion is force(); what moves is projected, u ← P(u + ε F), and linearize() drops the nodes that rest on their
/// bound and are pressed against it.
/// The parameters are θ = g_l and the bias of layer l, numbers 2(l − 1) and 2(l − 1) + 1. energy() is E/G_ref, V², so that its
/// slope is the force. S is float or double.
template <class S>
class ResistiveDynamics final : public Dynamics<S> {
 public:
  /// Keeps a reference to the network, which must not change while a sample is bound.
  ResistiveDynamics(const ResistiveNetwork<S>& network, Index rows);
  ~ResistiveDynamics() override;

  /// The sources v_0 (rows, n_0) of the phases that follow.
  void bind(ConstMatrixRef<S> sources);

  Index rows() const override { return rows_; }
  Index cols() const override { return network_->cols(); }
  void force(ConstMatrixRef<S> u, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> u) override;
  std::optional<double> energy(ConstMatrixRef<S> u) override;

  /// u ← P(u): every node on the wrong side of its diode to 0; u (k·rows, cols).
  void project(MatrixRef<S> u) const { network_->clip(u); }

  /// √c_l in every column of layer l (1, cols): u = v · that.
  const Matrix<S>& scale() const { return scale_; }
  /// G_ref, S.
  S reference_conductance_S() const { return reference_S_; }

 private:
  class Point;
  Matrix<S> voltages(ConstMatrixRef<S> u) const;

  const ResistiveNetwork<S>* network_;
  Index rows_;
  S reference_S_;
  Matrix<S> scale_;
  Matrix<S> sources_;
  std::unique_ptr<Point> point_;
};

}  // namespace nudge
