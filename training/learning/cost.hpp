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

/// Cost on the settled state of one example, summed over its rows. The weight of the gradient takes a batch's mean over
/// B·T rows. So a nudge β per row, per token, means the same at any batch size. Not thread-safe.
template <class S>
class Cost {
 public:
  virtual ~Cost() = default;

  /// Returns C(z) = Σ_t C_t, z (rows, cols).
  virtual double value(ConstMatrixRef<S> z) = 0;

  /// Sets out = ∂C/∂z for k copies stacked by rows, (k·rows, cols).
  virtual void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) = 0;

  /// Sets ∂C/∂z in the columns() of out only; out is already 0 in the others.
  virtual void own_gradient(ConstMatrixRef<S> z, MatrixRef<S> out) { gradient(z, out); }

  /// Adds scale · ∂C/∂θ of the cost's own parameters (the read-out learns directly), z (rows, cols).
  virtual void accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) = 0;

  /// Columns of the state that the cost acts on; ∂C/∂z is 0 on the others.
  virtual Columns columns(Index cols) const { return {0, cols}; }

  /// Returns c where ∂²C/∂z² = c · 1 in these columns for every state; 0: not known to be so.
  virtual double curvature() const { return 0; }

  /// Sets the time of one gradient() during a relaxation (Dynamics::set_read_timing).
  virtual void set_read_timing(ReadTiming /*timing*/) {}

  /// Makes gradients exact instead of read (Dynamics::use_exact_derivatives).
  virtual void use_exact_derivatives(bool /*exact*/) {}
};

/// Cost that can be moved from one example of a task to the next. Rows of a batch that do not count (Batch::counts)
/// have the cost 0 and the gradient 0.
template <class S>
class ExampleCost : public Cost<S> {
 public:
  /// Starts on an example of a batch: its targets, and the identity of its reads. The batch must stay alive.
  virtual void bind(const Batch& batch, Index example, const ReadContext& read) = 0;
  /// Names of the reads that follow.
  virtual ReadContext& read() = 0;
  /// Output that the last value() compared with the targets: logits (rows, V), or the node itself (rows, width).
  virtual Matrix<S> output() const = 0;
};

/// Linear cost C(z) = ⟨u, z⟩, the request of a model around an equilibrium. ∂C/∂z = u at every state; it has no
/// parameters.
template <class S>
class LinearCost final : public Cost<S> {
 public:
  /// Sets u (rows, cols); keeps a copy.
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

/// Cost of the output y of a node or a read-out against its target, both (rows, width) with only the rows that count.
/// It replaces half the squared error, or cross-entropy. Targets of classes are 1 for the class and 0 for the others.
/// Thread-safe.
class NodeCost {
 public:
  virtual ~NodeCost() = default;
  /// Returns C, summed over the rows.
  virtual double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
  /// Returns ∂C/∂y, (rows, width).
  virtual Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
};

/// Returns C over the rows of an example that count. `ignored`: the other rows, ascending.
template <class S>
double counted_value(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                     const std::vector<Index>& ignored);
/// Sets out = ∂C/∂y, 0 in the ignored rows.
template <class S>
void counted_gradient(const NodeCost& cost, ConstMatrixRef<S> y, ConstMatrixRef<S> target,
                      const std::vector<Index>& ignored, MatrixRef<S> out);

/// Normalisation in front of the read-out.
enum class Normalization { none, rms };

/// Read-out of a node for the cost: logits = N(z_node) W.
struct NodeReadout {
  int parameter = 0;  ///< number of the parameter W; -1: none, the cost is of the node itself
  int node = 0;
  Normalization normalization = Normalization::none;
  int bias = -1;  ///< number of the parameter (1, V) that is added to the logits; -1: none
  /// Cost of the logits, or of the node itself; null: cross-entropy, or half the squared error.
  std::shared_ptr<const NodeCost> cost = nullptr;
};

}  // namespace nudge
