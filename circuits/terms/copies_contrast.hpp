// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Computes out (rows, n) = Σ_k s_k r_k over copies (rows, n) side by side in r, as Σ_k s_k (r_k − r_0) + (Σ s) r_0. The part
/// that copies share drops out before it is rounded, if Σ s = 0. Returns Σ s.
template <class S>
S contrast_copies(ConstMatrixRef<S> r, std::span<const S> scales, MatrixRef<S> out) {
  const Index rows = out.rows();
  const auto first = r.topRows(rows);
  S total = scales[0];
  out.setZero();
  for (std::size_t k = 1; k < scales.size(); ++k) {
    out += scales[k] * (r.middleRows(static_cast<Index>(k) * rows, rows) - first);
    total += scales[k];
  }
  if (total != S(0)) out += total * first;
  return total;
}

/// Computes the contrast of squares, summed over the rows: out (1, n) = Σ_k s_k Σ_i r_ki², by (r_k − r_0)(r_k + r_0).
template <class S>
void contrast_squares(ConstMatrixRef<S> r, std::span<const S> scales, Index rows, MatrixRef<S> out) {
  const auto first = r.topRows(rows);
  S total = scales[0];
  out.setZero();
  for (std::size_t k = 1; k < scales.size(); ++k) {
    const auto copy = r.middleRows(static_cast<Index>(k) * rows, rows);
    out += scales[k] * ((copy - first).cwiseProduct(copy + first)).colwise().sum();
    total += scales[k];
  }
  if (total != S(0)) out += total * first.cwiseAbs2().colwise().sum();
}

}  // namespace nudge
