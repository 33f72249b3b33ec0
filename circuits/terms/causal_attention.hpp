// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/force_term.hpp"

namespace nudge {

/// Attention as a force, the non-conservative part (founding note, section 2), without its damping:
///     F_attn(z) = s · Attn(z),   Attn(z) = concat_heads(softmax_causal(q kᵀ/√d) v) W_o,   [q | k | v] = z [W_q | W_k | W_v]
/// W_q|W_k|W_v (C, 3C) are the term's columns of the input array; W_o (C, C) is the term's own map. Independent
/// projections make its Jacobian asymmetric.
template <class S>
class CausalAttention final : public ForceTerm<S> {
 public:
  /// gain s; channels divisible by heads. The output map must outlive the term.
  CausalAttention(Index channels, Index heads, S gain, int output_parameter, LinearMap<S>& output)
      : channels_(channels), heads_(heads), gain_(gain), output_parameter_(output_parameter), output_(&output) {}

  ForceTermTraits<S> traits() const override {
    return {.name = "attention",
            .conservative = false,
            .input_columns = 3 * channels_,
            .weights = {{output_parameter_, output_}}};
  }
  std::unique_ptr<TermPoint> make_point(Index tokens, Index max_copies) const override;
  void force(ConstMatrixRef<S> h, ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
             ReadContext& read) const override;
  void linearize(ConstMatrixRef<S> h, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point,
                 ReadContext& read) const override;
  void jvp(ConstMatrixRef<S> dh, MatrixRef<S> g, MatrixRef<S> f, TermPoint& point, ReadContext& read) const override;
  void vjp(ConstMatrixRef<S> u, ConstMatrixRef<S> hu, MatrixRef<S> g, TermPoint& point,
           ReadContext& read) const override;
  void accumulate(ConstMatrixRef<S> u, S scale, TermPoint& point, GradientSink<S>& sink,
                  ReadContext& read) const override;

  /// P of one head at the linearisation point, (T, T).
  const Matrix<S>& probabilities(const TermPoint& point, Index head) const;

 private:
  Index channels_, heads_;
  S gain_;
  int output_parameter_;
  LinearMap<S>* output_;
};

}  // namespace nudge
