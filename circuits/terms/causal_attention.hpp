// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "circuits/terms/attention_spread.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Attention as a force, the non-conservative part (founding note, section 2), without its damping; a term of a SharedArray:
///     F_attn(z) = s · Attn(z),   Attn(z) = concat_heads(softmax_causal(q kᵀ/√d) v) W_o,   [q | k | v] = z [W_q | W_k | W_v]
/// W_q|W_k|W_v (C, 3C) are the term's columns of the shared array; W_o (C, C) is the term's own map. Independent
/// projections make its Jacobian asymmetric. With a spread, circuits that differ multiply and normalise (AttentionSpread); what they do
/// is no digital work.
template <class S>
class CausalAttention final : public Term<S> {
 public:
  /// [q | k | v] are columns `at` of what the terms of the array see, which starts with the C = at.count/3 channels of z. Gain s; channels
  /// divisible by heads. The output map must outlive the term.
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

  /// P of one head at the linearisation point of a system of this term, (T, T).
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

}  // namespace nudge
