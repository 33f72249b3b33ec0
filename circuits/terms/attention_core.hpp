// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/terms/attention_spread.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Causal multi-head softmax attention on projections, without weights. One sequence: T tokens, C channels, H heads,
/// d = C/H; h = [q | k | v] is (T, 3C) and head i uses columns i·d..(i+1)·d−1 of each:
///     S = q kᵀ/√d,  P = softmax over j ≤ i of S_ij,  o = P v        (probabilities of j > i are exactly 0)
///     jvp: dS = (dq kᵀ + q dkᵀ)/√d,  dP = P∘(dS − rowsum(P∘dS)),  do = dP v + P dv
///     vjp of w: dv = Pᵀ w,  dP = w vᵀ,  dS = P∘(dP − rowsum(P∘dP)),  dq = dS k/√d,  dk = dSᵀ q/√d
/// With the mismatch of circuits that multiply (AttentionSpread) S and o are as it says, and the derivatives are theirs.
template <class S>
class AttentionCore {
 public:
  /// Needs channels divisible by heads. No spread: exact.
  AttentionCore(Index tokens, Index channels, Index heads, std::shared_ptr<const AttentionSpread<S>> spread = nullptr);

  /// o (T, C) from h (T, 3C).
  void forward(ConstMatrixRef<S> h, MatrixRef<S> o);

  /// forward(), remembering h and P as the point for jvp and vjp.
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> o);

  /// do (T, C) from dh (T, 3C), or -= with subtract.
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> out, bool subtract);

  /// g += [dq | dk | dv] (T, 3C) from w (T, C).
  void vjp(ConstMatrixRef<S> w, MatrixRef<S> g);

  /// Digital operations (additions, products, exponentials) of forward() or linearize(), and of jvp() or vjp(), over the
  /// causal half: two products of width C per pair, four in derivatives, and 5 per score and head for the softmax (shift,
  /// scale, exp, sum, divide) or its tangent.
  double forward_operations() const { return forward_operations(tokens_, channels_, heads_); }
  static double forward_operations(Index tokens, Index channels, Index heads) {
    return 0.5 * static_cast<double>(tokens * (tokens + 1)) * static_cast<double>(4 * channels + 5 * heads);
  }
  double derivative_operations() const { return pairs() * static_cast<double>(8 * channels_ + 5 * heads_); }

  /// P of head i at the point, (T, T).
  const Matrix<S>& probabilities(Index head) const { return probabilities_[static_cast<std::size_t>(head)]; }

 private:
  double pairs() const { return 0.5 * static_cast<double>(tokens_ * (tokens_ + 1)); }
  void softmax(Matrix<S>& scores) const;
  void softmax_tangent(const Matrix<S>& p, Matrix<S>& scores) const;
  void head_forward(ConstMatrixRef<S> h, Index head, Matrix<S>& p, MatrixRef<S> o);
  const Matrix<S>* score_gain(Index head) const;
  const Matrix<S>* value_gain(Index head) const;
  const Matrix<S>& weighed(const Matrix<S>& p, Index head);

  Index tokens_, channels_, heads_, width_;
  S inverse_root_;
  std::shared_ptr<const AttentionSpread<S>> spread_;
  Matrix<S> h_;
  std::vector<Matrix<S>> probabilities_;
  Matrix<S> scores_;
  Matrix<S> weighed_;  ///< (1 + η) ∘ P, where cells differ
};

}  // namespace nudge
