// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/mask.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// p_ti = exp(s_ti)/Σ_j exp(s_tj) over the attended keys of each query, 0 elsewhere; s (queries, keys).
template <class S>
Value<S> softmax(Value<S> scores, const Mask& mask);

/// log Σ_i exp(s_ti) over the attended keys, (queries, 1).
template <class S>
Value<S> log_sum_exp(Value<S> scores, const Mask& mask);

/// x where attended, 0 elsewhere.
template <class S>
Value<S> masked(Value<S> x, const Mask& mask);

/// p = softmax(s) over the attended keys into p, and log Σ exp(s) into normaliser (queries, 1): for other operations.
template <class S>
void softmax_rows(const Matrix<S>& scores, const Mask& mask, Matrix<S>& p, Matrix<S>& normaliser);

/// y = p ∘ (d − Σ_j p_j d_j), the (symmetric) Jacobian of the softmax of each row; d of unattended keys is ignored.
template <class S>
void softmax_jacobian_rows(const Matrix<S>& p, const Matrix<S>& d, Matrix<S>& y);

}  // namespace nudge
