// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mixers/mask.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// Multi-head softmax attention as one operation (Vaswani et al., arXiv:1706.03762, section 3.2), before the output
/// projection: head h of H uses columns h·d … (h + 1)·d − 1 of each operand,
///     P_h = softmax over the mask of q_h k_hᵀ/√d,   y = [P_1 v_1, …, P_H v_H].
/// q (queries, H d), k (keys, H d), v (keys, H e), mask (queries, keys), y (queries, H e). Products are formed for the keys
/// that a block of queries attends to: for a causal mask about half of them, in long sequences. Where `probabilities` is
/// given, each run of the tape leaves P_1 … P_H there, (queries, keys) each; it must outlive the tape, and derivatives read
/// it. Without allocation when the tape runs again.
template <class S>
Value<S> attend_heads(Value<S> q, Value<S> k, Value<S> v, Index heads, const Mask& mask,
                      std::vector<Matrix<S>>* probabilities = nullptr);

}  // namespace nudge
