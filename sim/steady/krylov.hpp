// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>

#include "sim/base/matrix.hpp"

namespace nudge {

/// A state flattened row by row.
template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

/// A Krylov basis: one orthonormal vector per column.
template <class S>
using Basis = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

/// y = A x over flattened states; y has its size already.
template <class S>
using LinearOperator = std::function<void(const Vector<S>& x, Vector<S>& y)>;

/// The flattened state as a (rows, cols) matrix.
template <class S>
Eigen::Map<Matrix<S>> as_state(Vector<S>& x, Index rows, Index cols) {
  return {x.data(), rows, cols};
}
template <class S>
Eigen::Map<const Matrix<S>> as_state(const Vector<S>& x, Index rows, Index cols) {
  return {x.data(), rows, cols};
}

/// Removes from w its parts along the first `count` columns of the basis by modified Gram–Schmidt and adds them to h;
/// a second pass when the first cancelled (Daniel, Gragg, Kaufman & Stewart, Math. Comp. 30 (1976) 772: a pass that
/// keeps less than 1/√2 of the norm needs another, and two are enough). Returns the norm of what is left of w.
template <class S>
double orthogonalise(const Basis<S>& basis, Index count, Vector<S>& w, Eigen::Ref<Eigen::VectorXd> h) {
  double norm = static_cast<double>(w.norm());
  for (int pass = 0; pass < 3; ++pass) {
    const double before = norm;
    for (Index i = 0; i < count; ++i) {
      const S part = basis.col(i).dot(w);
      w -= part * basis.col(i);
      h(i) += static_cast<double>(part);
    }
    norm = static_cast<double>(w.norm());
    if (norm > 0.7071 * before) break;
  }
  return norm;
}

}  // namespace nudge
