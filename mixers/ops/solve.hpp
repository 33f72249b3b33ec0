// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// A⁻¹ B; A (n, n) regular, B (n, m). A singular A gives numbers that are not finite.
template <class S>
Value<S> solve(Value<S> a, Value<S> b);

/// x_t = (α I + γ Cov_t)⁻¹ r_t with Cov_t = Σ_i p_ti k_i k_iᵀ − k̄_t k̄_tᵀ, k̄_t = Σ_i p_ti k_i: one small system per
/// query. p (queries, keys), k (keys, m), r and x (queries, m).
template <class S>
Value<S> covariance_solve(Value<S> p, Value<S> k, Value<S> r, double alpha, double gamma);

}  // namespace nudge
