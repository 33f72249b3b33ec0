// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sim/base/matrix.hpp"

namespace nudge {

/// RMS norm of every row without a learned gain (Zhang & Sennrich 2019, arXiv:1910.07467): m = r u, r = (mean u² + ε)^(−1/2).
/// Its Jacobian r (I − m mᵀ/C) is symmetric, so that forward and transposed derivative are one.
template <class S>
class RowNorm {
 public:
  static constexpr double epsilon = 1e-5;  ///< ε, as in training/models/transformer

  /// Computes m from u; keeps r.
  void forward(ConstMatrixRef<S> u, MatrixRef<S> m) {
    scale_.resize(u.rows(), 1);
    for (Index t = 0; t < u.rows(); ++t) {
      const S mean = u.row(t).squaredNorm() / static_cast<S>(u.cols());
      scale_(t, 0) = S(1) / std::sqrt(mean + static_cast<S>(epsilon));
      m.row(t) = scale_(t, 0) * u.row(t);
    }
  }

  /// Sets out = r (d − m ⟨m, d⟩/C), with the m that forward() gave.
  void derivative(ConstMatrixRef<S> m, ConstMatrixRef<S> d, MatrixRef<S> out) const {
    for (Index t = 0; t < d.rows(); ++t) {
      const S along = m.row(t).dot(d.row(t)) / static_cast<S>(m.cols());
      out.row(t) = scale_(t, 0) * (d.row(t) - along * m.row(t));
    }
  }

 private:
  Matrix<S> scale_;
};

}  // namespace nudge
