// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// g += 2 scale D ∘ h with the gate D = [u > 0], the derivative of 2 relu(u): `twice_rectified` is 2 relu(u) at the point
/// (T, M), h and g (k·T, M) are copies stacked by rows.
template <class S>
void add_gated(const Matrix<S>& twice_rectified, ConstMatrixRef<S> h, S scale, MatrixRef<S> g) {
  const Index tokens = twice_rectified.rows();
  NUDGE_EXPECT(h.rows() % tokens == 0);
  const S open = S(2) * scale;
  // A plain loop, which compilers turn into vectors; select() of Eigen 3.4 branches on every element.
  for (Index row = 0; row < h.rows(); ++row) {
    const S* at = twice_rectified.row(row % tokens).data();
    const S* in = h.row(row).data();
    S* out = g.row(row).data();
    for (Index j = 0; j < h.cols(); ++j) {
      const S gate = at[j] > S(0) ? open : S(0);  // a mask: no arithmetic that might trap stands behind the comparison
      out[j] += gate * in[j];
    }
  }
}

}  // namespace nudge
