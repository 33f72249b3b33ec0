// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "training/models/tape_term.hpp"
#include "training/models/transformer/transformer_plan.hpp"

namespace nudge {

/// G of an attention node, of the source u (T, C): m = N(u), q | k | v = m W_qkv (T, 3C), rotated where `rotary` (half-split
/// pairs), o = concat_h softmax_causal(q kᵀ/√d) v, G = o Wo. P_1 … P_H go to `probabilities` where that is given.
template <class S>
Value<S> attention_update(Value<S> u, Value<S> qkv, Value<S> output, Index heads, bool rotary,
                          std::vector<Matrix<S>>* probabilities = nullptr);

/// It as a term between two nodes; the place decides gain and residual.
template <class S>
std::unique_ptr<TapeTerm<S>> attention_layer(const TapePlace& place, Index heads, bool rotary,
                                             typename TapeTerm<S>::Weight qkv, typename TapeTerm<S>::Weight output);

/// Another mixer of mixers/registry as an attention node: G is what it computes of N(u), of a kind that is the state plus an
/// update the update alone. Where the mixer has a free energy, that of the tokens N(u) + z_j − u, which at rest are Mixer(N(u)),
/// against the context N(u) is the layer's (TapeTerm::RecordEnergy): Algorithm 1 of Ren et al., "Transformers as Intrinsic Optimizers".
template <class S>
std::unique_ptr<TapeTerm<S>> mixer_layer(const TapePlace& place, const MixerChoice& mixer,
                                         std::vector<typename TapeTerm<S>::Weight> weights);

/// G = φ(N(u) W1) W2.
template <class S>
std::unique_ptr<TapeTerm<S>> feed_forward_layer(const TapePlace& place, Activation activation,
                                                typename TapeTerm<S>::Weight first,
                                                typename TapeTerm<S>::Weight second);

/// G = 2 max(N(u) W, 0) Wᵀ, the descent of E(m) = −Σ max(m W, 0)² at m = N(u); the layer's energy is E(N(u) + z_j − u).
template <class S>
std::unique_ptr<TapeTerm<S>> memory_layer(const TapePlace& place, typename TapeTerm<S>::Weight patterns);

}  // namespace nudge
