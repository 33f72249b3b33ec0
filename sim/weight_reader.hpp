// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// A weight matrix W (inputs, outputs) that is read rather than known: an array of devices, seen by a computation that
/// shall not know what it is made of. Every row of x is one read. The owner of a reader decides what a read is (noise,
/// converters, wires) and where gradients go; it may count reads, so one reader belongs to one thread.
template <class S>
class WeightReader {
 public:
  virtual ~WeightReader() = default;

  /// y = x W: x (n, inputs), y (n, outputs).
  virtual void forward(ConstMatrixRef<S> x, MatrixRef<S> y) = 0;

  /// Derivatives of forward() at the operating point x₀ (n, inputs), D = ∂forward/∂x at x₀; both assign.
  ///     forward_jvp: y = D v,   v (n, inputs), y (n, outputs)
  ///     forward_vjp: x = Dᵀ u,  u (n, outputs), x (n, inputs)
  virtual void forward_jvp(ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y) = 0;
  virtual void forward_vjp(ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x) = 0;

  /// Adds ⟨u, ∂(x W)/∂W⟩ at x₀ (n, inputs), u (n, outputs), to wherever the owner of the reader wants it: x₀ᵀ u where the
  /// read is a product.
  virtual void correlate(ConstMatrixRef<S> x0, ConstMatrixRef<S> u) = 0;
};

}  // namespace nudge
