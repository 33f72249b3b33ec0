// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/read_timing.hpp"
#include "training/data/batches.hpp"

namespace nudge {

/// A cost on the settled state of one example, summed over its rows (a batch's mean over B·T rows is taken by the weight of
/// the gradient, so that a nudge β per row, per token, means the same at any batch size). Not thread-safe.
template <class S>
class Cost {
 public:
  virtual ~Cost() = default;

  /// C(z) = Σ_t C_t, z (rows, cols).
  virtual double value(ConstMatrixRef<S> z) = 0;

  /// out = ∂C/∂z for k copies stacked by rows, (k·rows, cols).
  virtual void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) = 0;

  /// The same into its columns() of out, which is 0 in the others.
  virtual void own_gradient(ConstMatrixRef<S> z, MatrixRef<S> out) { gradient(z, out); }

  /// Adds scale · ∂C/∂θ of the cost's own parameters (the read-out learns directly), z (rows, cols).
  virtual void accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) = 0;

  /// The columns of the state that it acts on; ∂C/∂z is 0 on the others.
  virtual Columns columns(Index cols) const { return {0, cols}; }

  /// c where ∂²C/∂z² = c · 1 in these columns for every state; 0: not known to be so.
  virtual double curvature() const { return 0; }

  /// Time of one gradient() during a relaxation (Dynamics::set_read_timing).
  virtual void set_read_timing(ReadTiming /*timing*/) {}

  /// Gradients computed exactly instead of read (Dynamics::use_exact_derivatives).
  virtual void use_exact_derivatives(bool /*exact*/) {}
};

/// A cost that can be moved from one example of a task to the next. Rows of a batch that do not count (Batch::counts) have the
/// cost 0 and the gradient 0.
template <class S>
class ExampleCost : public Cost<S> {
 public:
  /// Start on an example of a batch, which must stay alive: its targets, and what identifies its reads.
  virtual void bind(const Batch& batch, Index example, const ReadContext& read) = 0;
  /// What the reads that follow are named by.
  virtual ReadContext& read() = 0;
  /// What the last value() compared with the targets: logits (rows, V), or the node itself (rows, width).
  virtual Matrix<S> output() const = 0;
};

/// C(z) = ⟨u, z⟩: what a model around an equilibrium asks of it. ∂C/∂z = u at every state; it has no parameters.
template <class S>
class LinearCost final : public Cost<S> {
 public:
  /// u (rows, cols); a copy is kept.
  void bind(ConstMatrixRef<S> u) { u_ = u; }

  double value(ConstMatrixRef<S> z) override {
    return (u_.template cast<double>().array() * z.template cast<double>().array()).sum();
  }
  void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) override {
    for (Index row = 0; row < z.rows(); row += u_.rows()) out.middleRows(row, u_.rows()) = u_;
  }
  void accumulate_parameter_gradient(ConstMatrixRef<S> /*z*/, S /*scale*/, GradientSink<S>& /*sink*/) override {}

 private:
  Matrix<S> u_;
};

/// A cost of what a node or a read-out says, y, against what it should be, both (rows, width) and of the rows that count alone; in place of
/// half the squared error, or of cross-entropy. Targets of classes are 1 for the class and 0 for the others. Thread-safe.
class NodeCost {
 public:
  virtual ~NodeCost() = default;
  /// C = Σ over rows.
  virtual double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
  /// ∂C/∂y, (rows, width).
  virtual Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
};

/// C of those rows of an example that count. `ignored`: the others, ascending.
template <class S>
double counted_value(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                     const std::vector<Index>& ignored);
/// out = ∂C/∂y, 0 in the others.
template <class S>
void counted_gradient(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                      const std::vector<Index>& ignored, MatrixRef<S> out);

/// What is put in front of the read-out.
enum class Normalization { none, rms };

/// The cost's read-out of a node: logits = N(z_node) W.
struct NodeReadout {
  int parameter = 0;  ///< -1: none, the cost is of the node itself
  int node = 0;
  Normalization normalization = Normalization::none;
  int bias = -1;  ///< parameter (1, V) that is added to the logits; -1: none
  std::shared_ptr<const NodeCost> cost =
      nullptr;  ///< of the logits, or of the node itself; null: cross-entropy, or half the squared error
};

}  // namespace nudge
