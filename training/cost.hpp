// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"
#include "sim/gradient_sink.hpp"
#include "sim/read_class.hpp"

namespace nudge {

/// A cost on the settled state of one sequence, summed over its tokens (a batch's mean over B·T tokens is taken by the
/// weight of the gradient, so that a nudge β per token means the same at any batch size). Not thread-safe.
template <class S>
class Cost {
 public:
  virtual ~Cost() = default;

  /// C(z) = Σ_t C_t, z (T, C).
  virtual double value(ConstMatrixRef<S> z) = 0;

  /// out = ∂C/∂z for k copies stacked by rows, (k·T, C).
  virtual void gradient(ConstMatrixRef<S> z, MatrixRef<S> out) = 0;

  /// Adds scale · ∂C/∂θ of the cost's own parameters (the read-out learns directly), z (T, C).
  virtual void accumulate_parameter_gradient(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) = 0;

  /// Time of one gradient() during a relaxation (Dynamics::set_read_timing).
  virtual void set_read_timing(ReadTiming /*timing*/) {}

  /// Gradients computed exactly instead of read (Dynamics::use_exact_derivatives).
  virtual void use_exact_derivatives(bool /*exact*/) {}
};

}  // namespace nudge
