// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// A cost of a node's states y against what they should be, both (rows, width) and of the rows that count alone; in place of half the
/// squared error. Thread-safe.
class NodeCost {
 public:
  virtual ~NodeCost() = default;
  /// C = Σ over rows.
  virtual double value(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
  /// ∂C/∂y, (rows, width).
  virtual Matrix<double> gradient(ConstMatrixRef<double> y, ConstMatrixRef<double> target) const = 0;
};

}  // namespace nudge
