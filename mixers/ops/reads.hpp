// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "mixers/mask.hpp"
#include "mixers/tape.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Memory with decay that decaying_read() carries from token to token. It has N cells for each of G groups of channels, C
/// channels in all, channel c in group c // (C/G). Row n of the logarithms holds the masses of cell n of every group (G
/// columns). If free energies are read (tilted), it also holds the masses weighted with e^{β_c v_c} of every channel (C
/// columns).
template <class S>
struct DecayingMemory {
  DecayingMemory() = default;
  DecayingMemory(Index cells, Index groups, Index channels, bool tilted);  ///< empty

  Matrix<S> log_mass;  ///< ℓ and, if tilted, Λ (N, G or G + C)
  Matrix<S> low;       ///< low part of the logarithms, which their rounding has lost
  Matrix<S> mean;      ///< ν (N, C)
  Index groups = 0;
};

/// Numbers of the groups once per channel: channel c has the numbers of group c // (C/G), and they are unchanged where
/// G = C.
template <class S>
const S* per_channel(const S* of_groups, Index groups, Index channels, std::vector<S>& space);
/// Adds up the channels of every group.
template <class S>
void add_channels(const S* of_channels, Index groups, Index channels, S* of_groups);

/// Step of a token into a memory. Each mass M decays to M e^{g_n} and takes in y_nc = b_n e^{β_c v_c} (b_n where it is not
/// tilted). Of their sum, `kept` is the share of the old mass and `entered` the token's share. The exponentials are the cost
/// of a step: they are taken over the whole memory at once.
template <class S>
class MemoryStep {
 public:
  Matrix<S> kept, entered;  ///< (N, G or G + C)

  /// Computes the shares from g and log b (N G, a cell's groups side by side) and β v (C, where tilted).
  void prepare(const DecayingMemory<S>& memory, const S* g, const S* log_b, const S* beta_v);
  /// Takes the token with values v (C) into the memory that prepare() saw.
  void apply(const S* v, DecayingMemory<S>& memory);

 private:
  Matrix<S> decay_, token_, gap_, growth_;
  std::vector<S> space_;
};

/// Shares of the memory in a token's read. Cell n has the share π_n = a_n M_n / Z of the mass of its group and κ_nc of the
/// tilted mass. The token's own direct weight has the rest.
template <class S>
struct MemoryShares {
  Matrix<S> cells;      ///< (N, G or G + C)
  Matrix<S> direct;     ///< (1, G or G + C)
  Matrix<S> log_total;  ///< log Z (1, G or G + C)

  /// Sets the shares from log a (N G), β v (C, where tilted) and the log_direct of every group, or null.
  void set(const DecayingMemory<S>& memory, const S* log_a, const S* beta_v, const S* log_direct);
};

/// State of the decaying memory that token t reads.
enum class MemoryRead {
  updated,   ///< the memory that holds tokens 0..t
  previous,  ///< the memory that holds tokens 0..t−1, not yet decayed; needs a direct weight for token t itself
};

/// Read [μ | F] of the Free Energy Mixer (see free_energy_read) under a prior with decaying memory, in time and memory linear in T. The C
/// channels lie in G groups (channel c in c // (C/G)), each with a distribution over tokens of N cells:
///     s_t(i) = Σ_n a_tn b_in exp(Σ_{τ=i+1..t} g_τn)      (updated)
///     s_t(i) = Σ_n a_tn b_in exp(Σ_{τ=i+1..t−1} g_τn) for i < t, s_t(t) = direct                     (previous)
///     p_t(i) = s_t(i)/Σ_j s_t(j), s_t(t) plus `direct` where one is given.
/// Shapes: log a, log b, g (T, N G), with cell n of group k in column n G + k; v (T, C); β (1, C) > 0; log direct (1, G). Without β, [μ]
/// alone is read. This is every O(T) prior of the paper: gated linear attention (a = φ(q), b = φ(k)), AFT (a = 1, g = 0), decaying linear
/// RNN (a = b = 1) and the state-space priors. With a stream, tokens 0..T−1 continue the sequence that *stream has taken in. They are
/// taken in when recorded: no derivative with respect to earlier tokens, not to be run again.
///
/// The memory holds logarithms and normalised means (ℓ_n = log mass, ν_nc = mean of v, Λ_nc = log of the mass weighted with e^{βv}), each
/// moved by a convex weight. Nothing overflows, underflows or cancels for any T and any cumulative decay. The paper's appendices H.2 and I
/// have an envelope form (products with inverse cumulative decays). It is invalid beyond a cumulative decay of about 700 and is not used.
template <class S>
Value<S> decaying_read(Index groups, Value<S> log_a, Value<S> log_b, Value<S> g, Value<S> v,
                       std::optional<Value<S>> beta, std::optional<Value<S>> log_direct = std::nullopt,
                       MemoryRead read = MemoryRead::updated, DecayingMemory<S>* stream = nullptr);

/// Read y_t = q_tᵀ M_t of a memory M (m, n) that is corrected rather than added to, M_0 = 0:
///     M_t = e^{g_t} (1 − β_t k_t k_tᵀ) M_{t−1} + β_t k_t v_tᵀ
/// This is one gradient step of size β_t on ½‖Mᵀk_t − v_t‖² from the decayed memory (Yang et al., gated delta networks, arXiv:2412.06464,
/// eq. 10). g = 0 is the delta rule (arXiv:2406.06484). q, k (T, m), v (T, n), β, g (T, 1). Costs O(T m n) operations and keeps as many
/// numbers.
template <class S>
Value<S> delta_read(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Value<S> g);

/// Causal convolution of every channel with its own filter, y_tc = Σ_{j < K} h_jc x_{t−j, c}; x (T, C), h (K, C), K ≤ T counts. O(T K C).
template <class S>
Value<S> causal_convolution(Value<S> x, Value<S> filter);

/// The two branches of the Free Energy Mixer's read (Lemma 2.2 and eqs. 6–8) under the prior p_t = softmax(logits_t),
/// side by side (queries, 2 C) = [μ | F]:
///     μ_tc = Σ_i p_ti v_ic          F_tc = (1/β_c) log Σ_i p_ti exp(β_c v_ic)
/// logits (queries, keys), v (keys, C), β (1, C) > 0.
///
/// F is one product more than μ: with M_c = max_i β_c v_ic, Σ_i p_ti exp(β_c v_ic − M_c) is a row of P E. A row's own
/// terms may lie so far below M_c that its sum comes near the underflow limit. The product is then repeated in blocks of
/// 64 queries, each with the maximum over the keys that it sees. For a causal mask this is a running maximum, T/64
/// exponentials per value. Entries that are still too small in their block come from the row's own log Σ exp(log p + β
/// v), which is exact for any numbers. (The paper's appendix G.2 subtracts one maximum over the whole sequence: a large
/// future value then erases past rows.)
template <class S>
Value<S> free_energy_read(Value<S> logits, Value<S> v, Value<S> beta, const Mask& mask);

/// Streams that a mixer with an O(T) prior carries from one piece of a sequence to the next. Pieces that are evaluated one after
/// the other with the same streams give the rows of the whole sequence, for any split. The memory does not grow. Starts empty.
template <class S>
struct Streams {
  Index position = 0;        ///< tokens taken in
  DecayingMemory<S> memory;  ///< memory of the prior
  Matrix<S> conditioner;     ///< state of the time-decay conditioner (1, Hc)
};

}  // namespace nudge
