// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Optional capability of a Dynamics (Capabilities::bath) whose nodes are in contact with a bath of temperature T. It moves a node so that
/// states are drawn from P(z) ∝ exp(−E(z)/T). The units of one node must not act on each other. force() leaves the bath out.
template <class S>
class Bath {
 public:
  virtual ~Bath() = default;

  /// Moves the columns of a node by one step under its force f; every call draws anew. Real units: z ← z + ε f + √(T ε (2 − ε
  /// L)) ξ, with L their leak plus `added`, which has an entry per copy side by side (empty: 0). This is Euler–Maruyama but
  /// for the noise. The noise leaves P(z_node | the others) unchanged where it is Gaussian, for any ε below 2/L. Binary
  /// units: 0 or 1 with P(1) = 1/(1 + exp(−f/T)), where f = E(0) − E(1).
  virtual void move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) = 0;

  /// True if the units of a node are binary.
  virtual bool binary(std::size_t node) const = 0;
};

}  // namespace nudge
