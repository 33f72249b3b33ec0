// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "mixers/ops/decaying_memory.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// What token t reads of the decaying memory.
enum class MemoryRead {
  updated,   ///< the memory that holds tokens 0..t
  previous,  ///< the memory that holds tokens 0..t−1, not yet decayed; needs a direct weight for token t itself
};

/// The read [μ | F] of the Free Energy Mixer (see free_energy_read) under a prior with decaying memory, in time and
/// memory linear in T. The C channels lie in G groups (channel c in c // (C/G)), each with a distribution over tokens of N cells:
///     s_t(i) = Σ_n a_tn b_in exp(Σ_{τ=i+1..t} g_τn)      (updated)
///     s_t(i) = Σ_n a_tn b_in exp(Σ_{τ=i+1..t−1} g_τn) for i < t, s_t(t) = direct                     (previous)
///     p_t(i) = s_t(i)/Σ_j s_t(j), s_t(t) plus `direct` where one is given.
/// log a, log b, g (T, N G), cell n of group k in column n G + k; v (T, C); β (1, C) > 0, without which [μ] alone is read; log
/// direct (1, G). This is every O(T) prior of the paper: gated linear attention (a = φ(q), b = φ(k)), AFT (a = 1, g = 0), decaying
/// linear RNN (a = b = 1) and the state-space priors. With a stream, tokens 0..T−1 continue the sequence that *stream has taken
/// in, and are taken in when recorded (no derivative with respect to earlier tokens; not to be run again).
///
/// The memory holds logarithms and normalised means (ℓ_n = log mass, ν_nc = mean of v, Λ_nc = log of the mass weighted
/// with e^{βv}), each moved by a convex weight: nothing overflows, underflows or cancels for any T and any cumulative
/// decay. The envelope form of the paper's appendices H.2 and I (products with inverse cumulative decays) is invalid
/// beyond a cumulative decay of about 700 and is not used.
template <class S>
Value<S> decaying_read(Index groups, Value<S> log_a, Value<S> log_b, Value<S> g, Value<S> v,
                       std::optional<Value<S>> beta, std::optional<Value<S>> log_direct = std::nullopt,
                       MemoryRead read = MemoryRead::updated, DecayingMemory<S>* stream = nullptr);

}  // namespace nudge
