// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "sim/base/matrix.hpp"

namespace nudge {

template <class S>
class Linearization;

/// Optional capability of a Dynamics (Capabilities::kept_points) that can put linearisations aside: what goes back over a trajectory
/// (backprop through time) need not go over it twice.
template <class S>
class KeptPoints {
 public:
  virtual ~KeptPoints() = default;

  /// Computes f = F(z) (rows, cols) and keeps the linearisation at z under a number (0, 1, …). recall() makes it the present
  /// one, good for derivatives and correlation.
  virtual void remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) = 0;
  /// Makes a kept linearisation the present one; to be called once for each number that was remembered.
  virtual Linearization<S>& recall(std::size_t number) = 0;
};

}  // namespace nudge
