// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mixers/bit_sampler.hpp"
#include "mixers/mask.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// Softmax p_ti = exp(s_ti)/Σ_j exp(s_tj) over the attended keys of each query, 0 elsewhere; s (queries, keys).
template <class S>
Value<S> softmax(Value<S> scores, const Mask& mask);

/// Log of the sum of exponentials, log Σ_i exp(s_ti), over the attended keys, (queries, 1).
template <class S>
Value<S> log_sum_exp(Value<S> scores, const Mask& mask);

/// Masked x: x where attended, 0 elsewhere.
template <class S>
Value<S> masked(Value<S> x, const Mask& mask);

/// Writes p = softmax(s) over the attended keys, and log Σ exp(s) into normaliser (queries, 1): for other operations.
template <class S>
void softmax_rows(const Matrix<S>& scores, const Mask& mask, Matrix<S>& p, Matrix<S>& normaliser);

/// Computes y = p ∘ (d − Σ_j p_j d_j), the (symmetric) Jacobian of the softmax of each row times d; d of unattended keys is ignored.
template <class S>
void softmax_jacobian_rows(const Matrix<S>& p, const Matrix<S>& d, Matrix<S>& y);

/// Cross-entropy Σ_t −log softmax(logits_t)[target_t], (1, 1), in nats. A target of −1 leaves its token out.
template <class S>
Value<S> cross_entropy(Value<S> logits, std::vector<int> targets);
template <class S>
Value<S> cross_entropy(Value<S> logits, SharedIndices targets);

/// Binary mapper of the Free Transformer (Fleuret 2025, "The Free Transformer", section 3.4 and eqs. 5–8), logits L (T, H) to
/// one-hot rows (T, 2^H). Bits b_h are drawn with probability sigmoid(L_h); bit h = 1 (first column) is the lowest of the
/// index Σ_h 2^(h−1) b_h. Straight-through: the value is the drawn one-hot row Y, and both derivatives are taken of
///     G_d = Π_h sigmoid(L_h)^{U_h(d)} (1 − sigmoid(L_h))^{1−U_h(d)},  ∂G_d/∂L_h = G_d (U_h(d) − sigmoid(L_h)),
/// with U_h(d) bit h of d: exactly the gradient of Y + G − detach(G). UserError for H > 20. Needs 1 ≤ H.
template <class S>
Value<S> bit_mapper(Value<S> logits, std::shared_ptr<BitSampler<S>> sampler);

/// Lookup bit_mapper(logits) · table without the one-hot matrix: the value is a row of the table (2^H, D) per token. G is
/// made by doubling, 2^H numbers per token; the derivative with respect to the table is in the drawn rows only.
template <class S>
Value<S> bit_lookup(Value<S> logits, Value<S> table, std::shared_ptr<BitSampler<S>> sampler);

/// Index of each row of bits.
std::vector<int> bit_index(const std::vector<std::uint8_t>& bits, Index width);

}  // namespace nudge
