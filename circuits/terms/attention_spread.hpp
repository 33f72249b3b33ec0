// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Who multiplies and normalises in attention, and how well.
struct AttentionErrors {
  bool analog = false;       ///< circuits; else digital, exact
  double gain_spread = 0;    ///< standard deviation of γ and η
  double offset_spread = 0;  ///< of o
  std::uint64_t seed = 1;
};

/// Static mismatch of the cells that multiply in the attention of T tokens, for every head and pair of tokens one that forms a score,
/// an exponential (its factor e^o is an offset of the score) and one that weighs a value:
///     S_ij = (1 + γ_ij) q_i·k_j/√d + o_ij,   P = softmax of S,   o_i = Σ_j (1 + η_ij) P_ij v_j.
/// A matrix (T, T) for every head; none where all are alike. The cells have no noise of their own.
template <class S>
struct AttentionSpread {
  std::vector<Matrix<S>> score_gain;    ///< 1 + γ
  std::vector<Matrix<S>> score_offset;  ///< o
  std::vector<Matrix<S>> value_gain;    ///< 1 + η
};

/// A pure function of the errors' seed and the number of the attention; γ and η are cut at ±½. Null where digital circuits multiply.
template <class S>
std::shared_ptr<const AttentionSpread<S>> drawn_attention(const AttentionErrors& errors, Index tokens, Index heads,
                                                          std::uint32_t number);

}  // namespace nudge
