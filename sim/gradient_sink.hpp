// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Receiver of the local learning rule's contributions to the gradient. A parameter is a matrix known by its number in the
/// model. A contribution is a sum over the rows of outer products, G[:, columns] += scale · xᵀ y, which an array of devices
/// can do in place. A parameter that is held as numbers may get any matrix.
template <class S>
class GradientSink {
 public:
  virtual ~GradientSink() = default;

  /// Adds the outer products scale · xᵀ y to columns of a parameter; x (n, inputs of the parameter), y (n, columns.count).
  virtual void accumulate(int parameter, Columns columns, S scale, ConstMatrixRef<S> x, ConstMatrixRef<S> y) = 0;

  /// Adds scale · gradient to a parameter that no array of devices holds.
  virtual void accumulate(int parameter, S scale, ConstMatrixRef<S> gradient) = 0;
};

}  // namespace nudge
