// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "mixers/mask.hpp"
#include "mixers/mixer.hpp"
#include "mixers/tape.hpp"

namespace nudge {

/// Sizes of the heads of attention.
struct AttentionOptions {
  Index head_width = 4;  ///< width of queries, keys and values of one head
  Index key_value_heads =
      0;  ///< number G of heads of keys and values in mha, momen, nag, *_stack, each for H/G of queries; 0: H
};
const Section<AttentionOptions>& head_section();

/// Keys of attention: the width of a head alone, or both sizes. A width of 0 is C/H.
MixerKeys head_width_key(const MixerOptions& made);
MixerKeys attention_keys(const MixerOptions& made);
void fit_heads(MixerOptions& options);

/// Weights of an attention layer in the layout of Ren et al., "Transformers as Intrinsic Optimizers". Wq, Wk, Wv are (H, dh, d),
/// used as q_h = Wq_h z, and Wo is (H, d, dh). Names get the prefix. Training starts from numbers of standard deviation
/// 1/√(fan-in).
Field head_projection(const std::string& name, const MixerOptions& options);
/// Weights Wk, Wv (G, dh, d) of grouped-query attention (Ainslie et al., arXiv:2305.13245), of which head h of the queries
/// reads head ⌊h G/H⌋. G = options.key_value_heads, which must divide H; 0: H, multi-head attention.
Field shared_projection(const std::string& name, const MixerOptions& options);
Index key_value_heads(const MixerOptions& options);
Field head_output(const std::string& name, const MixerOptions& options);

/// Spec of a mixer with the state as only input and `y`, the state plus an update, as only output.
MixerSpec state_to_state(const MixerOptions& options, std::vector<Field> parameters);

/// Rows of head h of a (H·m, d) matrix.
template <class S>
Value<S> head(Value<S> weights, Index h, Index heads);

/// Sum Σ_h f(h) over the heads.
template <class S>
Value<S> sum_over_heads(Index heads, const std::function<Value<S>(Index)>& f);

/// Adds a head to the Helmholtz free energy of each token, (tokens, 1): energy ← energy − (T/H) log Σ_i exp(score_i). `share`
/// is the head's T/H; its scores are −E/T over the mask. The first head starts the energy.
template <class S>
void add_free_energy(Value<S>& energy, Value<S> scores, Value<S> share, const Mask& mask);
template <class S>
void add_free_energy(Value<S>& energy, Value<S> scores, double share, const Mask& mask);

/// Multi-head attention update Σ_h Wo_h Σ_i softmax_i(q_h·k_i/√dh) v_i of the tokens z, context included; parameters
/// <prefix>Wq, Wk, Wv, Wo. Options: heads, key_value_heads, rope. `energy`, if given, becomes the free energy of the pairs E
/// = −q·k at T = √dh; the update is its descent direction for Wo_h Wv_h = (η/H) Wq_hᵀ Wk_h.
template <class S>
Value<S> attention_update(Value<S> z, const NamedValues<S>& parameters, const std::string& prefix,
                          const MixerOptions& options, const Mask& mask, Value<S>* energy = nullptr);

/// Queries or keys of `heads` heads, with rotary positions if options.rope asks for them.
template <class S>
Value<S> with_positions(Value<S> x, const MixerOptions& options, Index heads);

/// Multi-head softmax attention as one operation (Vaswani et al., arXiv:1706.03762, section 3.2), before the output projection. Head h of H
/// uses columns h·d … (h + 1)·d − 1 of each operand,
///     P_h = softmax over the mask of q_h k_hᵀ/√d,   y = [P_1 v_1, …, P_H v_H].
/// q (queries, H d), k (keys, H d), v (keys, H e), mask (queries, keys), y (queries, H e). Products are formed for the keys that a block of
/// queries attends to: for a causal mask about half of them, in long sequences. If `probabilities` is given, each run of the tape leaves
/// P_1 … P_H there, (queries, keys) each. It must outlive the tape, and derivatives read it. It allocates nothing when the tape runs again.
template <class S>
Value<S> attend_heads(Value<S> q, Value<S> k, Value<S> v, Index heads, const Mask& mask,
                      std::vector<Matrix<S>>* probabilities = nullptr);

}  // namespace nudge
