// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/line_set.hpp"

namespace nudge {

LineSet::LineSet(const Array& load, double segment, const Ends& first, const Ends& last)
    : segment_(segment), diagonal_(load), inverse_pivot_(load.rows(), load.cols()) {
  const Index length = load.rows();
  diagonal_.row(0) += first;
  diagonal_.row(length - 1) += last;
  for (Index k = 0; k + 1 < length; ++k) {
    diagonal_.row(k) += segment;
    diagonal_.row(k + 1) += segment;
  }
  inverse_pivot_.row(0) = diagonal_.row(0).inverse();
  for (Index k = 1; k < length; ++k) {
    inverse_pivot_.row(k) = (diagonal_.row(k) - segment * segment * inverse_pivot_.row(k - 1)).inverse();
  }
}

// Thomas' algorithm for a symmetric matrix with constant off-diagonal −g: y_k = (b_k + g y_{k−1})/p_k, then
// x_k = y_k + (g/p_k) x_{k+1}.
void LineSet::solve(Array& x) const {
  const Index length = x.rows();
  x.row(0) *= inverse_pivot_.row(0);
  for (Index k = 1; k < length; ++k) x.row(k) = (x.row(k) + segment_ * x.row(k - 1)) * inverse_pivot_.row(k);
  for (Index k = length - 2; k >= 0; --k) x.row(k) += segment_ * inverse_pivot_.row(k) * x.row(k + 1);
}

void LineSet::multiply(const Array& x, Array& y) const {
  const Index length = x.rows();
  y = diagonal_ * x;
  for (Index k = 0; k + 1 < length; ++k) {
    y.row(k) -= segment_ * x.row(k + 1);
    y.row(k + 1) -= segment_ * x.row(k);
  }
}

}  // namespace nudge
