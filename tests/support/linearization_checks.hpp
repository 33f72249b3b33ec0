// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/dynamics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge::test {

/// Approximates J v ≈ (F(z + hv) − F(z − hv)) / 2h in the precision S; z and v (k·rows, cols). With h = ∛ε · max(‖z‖,
/// 1)/‖v‖ (the default, ε the machine epsilon of S) truncation h²F'''/6 and rounding εF/h are of the same size. The
/// relative error is then about ε^(2/3) = 3.7e-11 in double and 2.4e-5 in float, times the ratio of F''' and F to Jv.
template <class S>
Matrix<S> central_difference(Dynamics<S>& dynamics, const Matrix<S>& z, const Matrix<S>& v, Part part = Part::all,
                             double h = 0.0) {
  if (h == 0.0) {
    h = std::cbrt(static_cast<double>(std::numeric_limits<S>::epsilon())) *
        std::max(static_cast<double>(z.norm()), 1.0) / static_cast<double>(v.norm());
  }
  const Matrix<S> ahead = z + static_cast<S>(h) * v;
  const Matrix<S> behind = z - static_cast<S>(h) * v;
  Matrix<S> f_ahead(z.rows(), z.cols());
  Matrix<S> f_behind(z.rows(), z.cols());
  dynamics.force(ahead, f_ahead, part);
  dynamics.force(behind, f_behind, part);
  return (f_ahead - f_behind) / static_cast<S>(2.0 * h);
}

/// Returns |⟨w, Jv⟩ − ⟨Jᵀw, v⟩| / (‖w‖ ‖Jv‖ + ‖Jᵀw‖ ‖v‖) for random normal v and w (copies·rows, cols).
template <class S>
double adjoint_mismatch(Linearization<S>& linearization, Index rows, Index cols, Index copies = 1,
                        Part part = Part::all, std::uint64_t seed = 1) {
  const Matrix<S> v = random_matrix<S>(copies * rows, cols, 2 * seed);
  const Matrix<S> w = random_matrix<S>(copies * rows, cols, 2 * seed + 1);
  Matrix<S> jv(v.rows(), v.cols());
  Matrix<S> jtw(v.rows(), v.cols());
  linearization.jvp(v, jv, part);
  linearization.vjp(w, jtw, part);
  const auto wide = [](const Matrix<S>& m) { return m.template cast<double>(); };
  const double forward = wide(w).cwiseProduct(wide(jv)).sum();
  const double backward = wide(jtw).cwiseProduct(wide(v)).sum();
  const double scale = wide(w).norm() * wide(jv).norm() + wide(jtw).norm() * wide(v).norm();
  return scale == 0.0 ? 0.0 : std::abs(forward - backward) / scale;
}

/// Checks that vjp is the transpose of jvp for one and for two stacked copies. Tolerance: each product is off by a few
/// tens of roundings ε of its own norm; 100 ε leaves room for sums of some thousand terms, whose errors grow as the root.
/// A wrong transpose shows as about 1/√N for N numbers in the state (random vectors are nearly orthogonal), so the check
/// bites for N up to 10⁸ in float.
template <class S>
void check_adjoint(Linearization<S>& linearization, Index rows, Index cols, Part part = Part::all,
                   std::uint64_t seed = 1) {
  const double tolerance = 100.0 * static_cast<double>(std::numeric_limits<S>::epsilon());
  for (const Index copies : {Index(1), Index(2)}) {
    CAPTURE(copies, static_cast<int>(part), seed);
    CHECK(adjoint_mismatch(linearization, rows, cols, copies, part, seed) < tolerance);
  }
}

}  // namespace nudge::test
