// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/cost.hpp"

namespace nudge {

/// Squared error of a node's state itself, without a read-out: C = ½ Σ_t |z_node,t − y_t|²,  ∂C/∂z_node = z_node − y, 0 on the
/// other nodes (Scellier & Bengio 2017; they leave out the ½, so that their β is half of this one's). It has no parameters.
template <class S>
class SquaredError final : public Cost<S> {
 public:
  /// `node`: its columns of the state.
  explicit SquaredError(Columns node) : node_(node) {}

  /// What the node should be, (rows, node.count); a copy is kept.
  void bind(ConstMatrixRef<S> targets);

  double value(ConstMatrixRef<S> z) override;
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> /*z*/, S /*scale*/, GradientSink<S>& /*sink*/) override {}
  Columns columns(Index /*cols*/) const override { return node_; }

 private:
  Columns node_;
  Matrix<S> targets_;
};

}  // namespace nudge
