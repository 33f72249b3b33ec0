// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Rows of a weight matrix that a read uses, and its direction. forward: x W; transposed: x Wᵀ through the same devices, driven
/// from the other side.
struct WeightPart {
  Index first = 0, rows = 0;
  bool transposed = false;
};

/// A weight matrix W (inputs, outputs) that is read rather than known. It may be an array of devices; the computation that
/// uses it need not know. Every row of x is one read. The owner of a reader decides how a read works (noise, converters,
/// wires) and where gradients go. It may count reads, so one reader belongs to one thread. With V the rows of the part,
/// (rows, outputs):
template <class S>
class WeightReader {
 public:
  virtual ~WeightReader() = default;

  /// Reads y = x V: x (n, rows), y (n, outputs); transposed y = x Vᵀ: x (n, outputs), y (n, rows).
  virtual void read(const WeightPart& part, ConstMatrixRef<S> x, MatrixRef<S> y) = 0;

  /// Derivatives of read() at the operating point x₀, D = ∂read/∂x at x₀; both assign.
  ///     read_jvp: y = D v,   v like x, y like y          read_vjp: x = Dᵀ u,  u like y, x like x
  virtual void read_jvp(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> v, MatrixRef<S> y) = 0;
  virtual void read_vjp(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> u, MatrixRef<S> x) = 0;

  /// Adds ⟨u, ∂read/∂W⟩ at x₀ to wherever the owner of the reader wants it; u has the shape of y. For a product this is x₀ᵀ u
  /// (transposed uᵀ x₀) in the rows of the part.
  virtual void correlate(const WeightPart& part, ConstMatrixRef<S> x0, ConstMatrixRef<S> u) = 0;
};

}  // namespace nudge
