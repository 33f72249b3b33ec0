// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"

namespace nudge {

/// A transformer block whose queries and whose keys and values may come from different places (Fleuret 2025, "The Free Transformer", section 3.3):
///     n(x) = RMS(x) ∘ n1,  a = in_q + MHA(n(in_q), n(in_kv)) Wo,  y = a + (silu(h Wg) ∘ (h Wu)) Wd,  h = RMS(a) ∘ n2
/// rotary positions on queries and keys of each head, 1/√head width, no biases, ε = 1e-6; weights (in, out) named
/// <prefix>n1, Wq, Wk, Wv, Wo, n2, Wg, Wu, Wd. Wk and Wv have G = `groups` heads, each for heads/G of the queries. The paper omits residuals "for clarity": here they come from in_q, so
/// that what is only in in_kv (the latent) reaches the output through attention alone, and one norm serves both inputs.
struct AttentionHeads {
  Index queries = 1;
  Index groups = 1;  ///< G, of keys and values
};
std::vector<Field> block_fields(const std::string& prefix, Index width, AttentionHeads heads, Index inner);
template <class S>
Value<S> block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
               AttentionHeads heads, const Mask& mask);

/// Keys (rotated) and values of the tokens that a causal block has seen, (tokens, G head widths) each; starts empty.
template <class S>
struct KeyValueCache {
  Matrix<S> keys, values;
};

/// The same for the tokens that follow those of the cache, which takes their keys and values in: the rows that the whole
/// sequence would give, without derivative with respect to earlier tokens.
template <class S>
Value<S> continued_block(Value<S> in_q, Value<S> in_kv, const NamedValues<S>& parameters, const std::string& prefix,
                         AttentionHeads heads, KeyValueCache<S>& cache);

}  // namespace nudge
