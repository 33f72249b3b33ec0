// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "circuits/terms/term.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Errors of the circuits that multiply and normalise in attention.
struct AttentionErrors {
  bool analog = false;       ///< true: analog circuits; false: digital, exact
  double gain_spread = 0;    ///< standard deviation of γ and η
  double offset_spread = 0;  ///< standard deviation of o
  std::uint64_t seed = 1;
};

/// Static mismatch of the cells that multiply in the attention of T tokens. For every head and pair of tokens three cells
/// act. One forms a score, one an exponential (its factor e^o is an offset of the score), one weighs a value:
///     S_ij = (1 + γ_ij) q_i·k_j/√d + o_ij,   P = softmax of S,   o_i = Σ_j (1 + η_ij) P_ij v_j.
/// A matrix (T, T) for every head; none if all cells are alike. The cells have no noise of their own.
template <class S>
struct AttentionSpread {
  std::vector<Matrix<S>> score_gain;    ///< 1 + γ
  std::vector<Matrix<S>> score_offset;  ///< o
  std::vector<Matrix<S>> value_gain;    ///< 1 + η
};

/// Draws the mismatch of an attention, a pure function of the errors' seed and the attention's number; γ and η are cut at ±½.
/// Null if digital circuits multiply.
template <class S>
std::shared_ptr<const AttentionSpread<S>> drawn_attention(const AttentionErrors& errors, Index tokens, Index heads,
                                                          std::uint32_t number);

/// Attention as a force, the non-conservative part (founding note, section 2), without its damping; a term of a SharedArray:
///     F_attn(z) = s · Attn(z),   Attn(z) = concat_heads(softmax_causal(q kᵀ/√d) v) W_o,   [q | k | v] = z [W_q | W_k | W_v]
/// W_q|W_k|W_v (C, 3C) are the term's columns of the shared array; W_o (C, C) is the term's own map. Independent projections make its
/// Jacobian asymmetric. With a spread, circuits that differ multiply and normalise (AttentionSpread); their work is no digital work.
template <class S>
class CausalAttention final : public Term<S> {
 public:
  /// Makes the term. [q | k | v] are columns `at` of the terms' view of the array, which starts with the C = at.count/3
  /// channels of z. Gain s; channels divisible by heads. The output map must outlive the term.
  CausalAttention(Columns at, Index heads, S gain, int output_parameter, const LinearMap<S>& output,
                  std::shared_ptr<const AttentionSpread<S>> spread = nullptr)
      : at_(at),
        heads_(heads),
        gain_(gain),
        output_parameter_(output_parameter),
        output_(&output),
        spread_(std::move(spread)) {}

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  /// Probabilities P of one head at the linearisation point of a system of this term, (T, T).
  static const Matrix<S>& probabilities(const TermSystem<S>& system, Index head);

 private:
  class System;
  Columns at_;
  Index heads_;
  S gain_;
  int output_parameter_;
  const LinearMap<S>* output_;
  std::shared_ptr<const AttentionSpread<S>> spread_;
};

/// Causal multi-head softmax attention on projections, without weights. One sequence: T tokens, C channels, H heads,
/// d = C/H; h = [q | k | v] is (T, 3C) and head i uses columns i·d..(i+1)·d−1 of each:
///     S = q kᵀ/√d,  P = softmax over j ≤ i of S_ij,  o = P v        (probabilities of j > i are exactly 0)
///     jvp: dS = (dq kᵀ + q dkᵀ)/√d,  dP = P∘(dS − rowsum(P∘dS)),  do = dP v + P dv
///     vjp of w: dv = Pᵀ w,  dP = w vᵀ,  dS = P∘(dP − rowsum(P∘dP)),  dq = dS k/√d,  dk = dSᵀ q/√d
/// With the mismatch of circuits that multiply (AttentionSpread) S and o are as it says, and the derivatives are theirs.
template <class S>
class AttentionCore {
 public:
  /// Makes the core; channels must be divisible by heads. No spread: exact.
  AttentionCore(Index tokens, Index channels, Index heads, std::shared_ptr<const AttentionSpread<S>> spread = nullptr);

  /// Computes o (T, C) from h (T, 3C).
  void forward(ConstMatrixRef<S> h, MatrixRef<S> o);

  /// Computes forward() and remembers h and P as the point for jvp and vjp.
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> o);

  /// Computes out = do (T, C) from dh (T, 3C), or out −= do with `subtract`.
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> out, bool subtract);

  /// Adds [dq | dk | dv] (T, 3C) from w (T, C) to g.
  void vjp(ConstMatrixRef<S> w, MatrixRef<S> g);

  /// Digital operations (additions, products, exponentials) of forward() or linearize(), and of jvp() or vjp(), over the
  /// causal half. Products count two of width C per pair, in derivatives four. The softmax counts 5 per score and head
  /// (shift, scale, exp, sum, divide), and so does its tangent.
  double forward_operations() const { return forward_operations(tokens_, channels_, heads_); }
  static double forward_operations(Index tokens, Index channels, Index heads) {
    return 0.5 * static_cast<double>(tokens * (tokens + 1)) * static_cast<double>(4 * channels + 5 * heads);
  }
  double derivative_operations() const { return pairs() * static_cast<double>(8 * channels_ + 5 * heads_); }

  /// Probabilities P of head i at the point, (T, T).
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
  Matrix<S> weighed_;  ///< (1 + η) ∘ P, if cells differ
};

}  // namespace nudge
