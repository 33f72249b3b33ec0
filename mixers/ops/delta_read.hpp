// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/tape.hpp"

namespace nudge {

/// y_t = q_tᵀ M_t of a memory M (m, n) that is corrected rather than added to, M_0 = 0:
///     M_t = e^{g_t} (1 − β_t k_t k_tᵀ) M_{t−1} + β_t k_t v_tᵀ
/// one gradient step of size β_t on ½‖Mᵀk_t − v_t‖² from what is left of the memory (Yang et al., gated delta networks,
/// arXiv:2412.06464, eq. 10; g = 0: the delta rule, arXiv:2406.06484). q, k (T, m), v (T, n), β, g (T, 1). O(T m n), and as
/// many numbers kept.
template <class S>
Value<S> delta_read(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Value<S> g);

/// y_tc = Σ_{j < K} h_jc x_{t−j, c}: a causal convolution of every channel with its own filter; x (T, C), h (K, C), K ≤ T counts.
/// O(T K C).
template <class S>
Value<S> causal_convolution(Value<S> x, Value<S> filter);

}  // namespace nudge
