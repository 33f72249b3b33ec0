// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "training/learning/cost.hpp"

namespace nudge {

/// Squared error of a node's state itself, without a read-out: C = ½ Σ_t |z_node,t − y_t|²,  ∂C/∂z_node = z_node − y.
/// It is 0 on the other nodes and in rows that do not count. Scellier & Bengio 2017 leave out the ½, so their β is half
/// of this one. Another cost of the node (NodeCost) may replace it. It has no parameters.
template <class S>
class SquaredError final : public ExampleCost<S> {
 public:
  /// Acts on the columns `node` of the state. `other`: the cost in place of the squared error.
  explicit SquaredError(Columns node, std::shared_ptr<const NodeCost> other = nullptr)
      : node_(node), other_(std::move(other)) {}

  /// Sets the targets of the node, (rows, node.count); keeps a copy.
  void bind(ConstMatrixRef<S> targets);
  /// Takes the targets from an example of a batch: its real values. With classes only, the target is 1 for the class of
  /// each row and 0 for the others.
  void bind(const Batch& batch, Index example, const ReadContext& read) override;
  ReadContext& read() override { return read_; }

  double value(ConstMatrixRef<S> z) override;
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override;
  void own_gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override;
  void accumulate_parameter_gradient(ConstMatrixRef<S> /*z*/, S /*scale*/, GradientSink<S>& /*sink*/) override {}
  Columns columns(Index /*cols*/) const override { return node_; }
  Matrix<S> output() const override { return output_; }
  double curvature() const override { return other_ == nullptr ? 1 : 0; }

 private:
  Columns node_;
  std::shared_ptr<const NodeCost> other_;
  Matrix<S> targets_, output_, error_;
  std::vector<Index> ignored_;  ///< rows of the present example that do not count
  ReadContext read_;            ///< unused: the cost reads no array
};

}  // namespace nudge
