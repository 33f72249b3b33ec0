// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "mixers/mask.hpp"
#include "mixers/streams.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// The priors of the Free Energy Mixer.
enum class Prior { softmax, gla, aft, lrnn, ssm_invariant, ssm_selective };

/// The two branches of a read, (tokens, d) each: mean and free energy at β (free_energy_read.hpp).
template <class S>
struct Branches {
  Value<S> mean;
  Value<S> free_energy;
};

/// All priors: v (T, d), β (1, d) > 0; value channel c belongs to group c // (d/G). Those with decay are causal, take
/// time and memory linear in T (decaying_read.hpp), continue `streams` where given, and without β read the mean alone, which
/// then stands for both branches.

/// Softmax (appendix B.1): p ∝ exp(q·k/√dk) per head over the mask; q, k (T, H dk). G = heads.
template <class S>
Branches<S> softmax_prior(Value<S> q, Value<S> k, Value<S> v, Value<S> beta, Index heads, const Mask& mask);

/// Gated linear attention (H.2): s = Σ_m φ(q_t)_m φ(k_i)_m exp(Σ_{τ=i+1..t} g_τ), φ(x) = relu(x) + ε, q and k already
/// rotated; g (T, heads) or (T, heads·dk) ≤ 0. No ε in the denominator (the published code's p does not sum to 1). G =
/// heads.
template <class S>
Branches<S> gla_prior(Value<S> q, Value<S> k, Value<S> g, Value<S> v, std::optional<Value<S>> beta, Index heads,
                      double epsilon, Streams<S>* streams);

/// The same numbers by products of T x T matrices, in time T²: with a T of some hundreds faster than the recurrence. g
/// (T, heads) per head, or null: no decay (linear attention). Causal; from the start of the sequence.
template <class S>
Branches<S> gla_prior_quadratic(Value<S> q, Value<S> k, const Value<S>* g, Value<S> v, Value<S> beta, Index heads,
                                double epsilon, const Mask& mask);

/// AFT (H.3): s = exp(k_i), one weight per group: k (T, G). The paper's k ∈ R^m does not say how groups map to
/// channels; here they are contiguous.
template <class S>
Branches<S> aft_prior(Value<S> k, Value<S> v, std::optional<Value<S>> beta, Streams<S>* streams);

/// Decaying linear RNN (H.3): s = exp(Σ_{τ=i+1..t} g_τ), g (T, G) ≤ 0.
template <class S>
Branches<S> lrnn_prior(Value<S> g, Value<S> v, std::optional<Value<S>> beta, Streams<S>* streams);

/// State space, time-invariant (H.4), per channel c with N states: H(0) = D, H(τ ≥ 1) = Σ_n C A^(τ−1) B, s = H(t − i),
/// with dt = softplus(raw), A = exp(−softplus(raw) dt), B = softplus(raw) dt, C and D softplus(raw). As printed: no C·B
/// at lag 0. Raw parameters a, b, c (d, N); direct, dt (1, d).
template <class S>
struct InvariantStates {
  Value<S> a, b, c, direct, dt;
};
template <class S>
Branches<S> ssm_invariant_prior(const InvariantStates<S>& raw, Value<S> v, std::optional<Value<S>> beta,
                                Streams<S>* streams);

/// State space, selective (S6 with non-negative parts): s = Σ_n C_tn exp(A_cn Σ_{τ=i+1..t} dt_τc) dt_ic B_in + D_c 1{i
/// = t}, C·B present at lag 0. dt (T, d), b, c (T, N) positive; raw a (d, N), direct (1, d): A = −softplus(a), D =
/// softplus(direct). The paper's "channel-interactive variant lifting to pairs" (2.3.3) is nowhere defined and left
/// out.
template <class S>
struct SelectiveStates {
  Value<S> dt, b, c, a, direct;
};
template <class S>
Branches<S> ssm_selective_prior(const SelectiveStates<S>& states, Value<S> v, std::optional<Value<S>> beta,
                                Streams<S>* streams);

}  // namespace nudge
