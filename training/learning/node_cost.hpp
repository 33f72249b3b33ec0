// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

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

}  // namespace nudge
