// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sim/base/matrix.hpp"

namespace nudge {

// Of one row x, an Eigen expression that can be written to.

/// Replaces x ← softmax(scale·x), scale > 0; the shift by the largest entry makes exp() safe. Returns log Σ_j exp(scale·x_j).
template <class Row, class S = typename Row::Scalar>
S softmax_row(Row x, S scale = S(1)) {
  const S largest = x.maxCoeff();
  x.array() = ((x.array() - largest) * scale).exp();
  const S sum = x.sum();
  x *= S(1) / sum;
  return scale * largest + std::log(sum);
}

/// Replaces x ← scale · p ∘ (x − Σ_j p_j x_j): the Jacobian at p = softmax(scale·…), which is symmetric, times x.
template <class Probabilities, class Row, class S = typename Row::Scalar>
void softmax_derivative_row(const Probabilities& p, Row x, S scale = S(1)) {
  const S mean = p.dot(x);
  x.array() = p.array() * (x.array() - mean) * scale;
}

/// Replaces x ← softmax(x) − e_label, the gradient of the cross-entropy. Returns the cross-entropy, −log softmax(x)_label.
template <class Row, class S = typename Row::Scalar>
S cross_entropy_row(Row x, Index label) {
  const S own = x(label);
  const S cost = softmax_row(x) - own;
  x(label) -= S(1);
  return cost;
}

}  // namespace nudge
