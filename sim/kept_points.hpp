// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/base/matrix.hpp"

namespace nudge {

template <class S>
class Linearization;

/// Optional capability of a Dynamics (Capabilities::kept_points) that can put linearisations aside. Backprop through time then need
/// not go over a trajectory twice.
template <class S>
class KeptPoints {
 public:
  virtual ~KeptPoints() = default;

  /// Computes f = F(z) (rows, cols) and keeps the linearisation at z under a number (0, 1, …). recall() brings it back for
  /// derivatives and correlation.
  virtual void remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) = 0;
  /// Makes a kept linearisation the present one; to be called once for each number that was remembered.
  virtual Linearization<S>& recall(std::size_t number) = 0;
};

}  // namespace nudge
