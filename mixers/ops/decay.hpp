// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// y_ti = exp(Σ_{τ=i+1..t} g_τ) for i ≤ t, 0 above the diagonal; g (T, 1), y (T, T). Built row by row from products of
/// decays, never from ratios of cumulative products (which overflow).
template <class S>
Value<S> decay_matrix(Value<S> g);

/// h_t = exp(g_t) h_{t−1} + u_t, h_{−1} = 0, per column; g and u (T, n). With a stream (1, n), h_{−1} is what it
/// holds (empty: 0) and it is left with h_{T−1}, when recorded (not to be run again).
template <class S>
Value<S> decayed_sum(Value<S> g, Value<S> u, Matrix<S>* stream = nullptr);

}  // namespace nudge
