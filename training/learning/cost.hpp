// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/read_class.hpp"
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

}  // namespace nudge
