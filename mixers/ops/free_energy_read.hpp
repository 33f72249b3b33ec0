// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mixers/mask.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// The two branches of the Free Energy Mixer's read (Lemma 2.2 and eqs. 6–8) under the prior p_t = softmax(logits_t),
/// side by side (queries, 2 C) = [μ | F]:
///     μ_tc = Σ_i p_ti v_ic          F_tc = (1/β_c) log Σ_i p_ti exp(β_c v_ic)
/// logits (queries, keys), v (keys, C), β (1, C) > 0.
///
/// F is one product more than μ: with M_c = max_i β_c v_ic, Σ_i p_ti exp(β_c v_ic − M_c) is a row of P E. Where a row's
/// own terms lie so far below M_c that its sum comes near the underflow limit, the product is repeated in blocks of 64
/// queries, each with the maximum over the keys that it sees (for a causal mask a running maximum: T/64 exponentials per
/// value); entries that are still too small, inside their block, by the row's own log Σ exp(log p + β v), which is exact
/// for any numbers. (The paper's appendix G.2 subtracts one maximum over the whole sequence: a large future value then
/// erases past rows.)
template <class S>
Value<S> free_energy_read(Value<S> logits, Value<S> v, Value<S> beta, const Mask& mask);

}  // namespace nudge
