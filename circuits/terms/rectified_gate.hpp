// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// g = 2 D ∘ h with the gate D = [u > 0], the derivative of 2 relu(u): `twice_rectified` is 2 relu(u) at the point
/// (T, M), h and g (k·T, M) are copies stacked by rows.
template <class S>
void apply_gate(const Matrix<S>& twice_rectified, ConstMatrixRef<S> h, MatrixRef<S> g) {
  const Index tokens = twice_rectified.rows();
  NUDGE_EXPECT(h.rows() % tokens == 0);
  for (Index row = 0; row < h.rows(); ++row) {
    g.row(row).array() = (twice_rectified.row(row % tokens).array() > S(0)).select(S(2) * h.row(row).array(), S(0));
  }
}

}  // namespace nudge
