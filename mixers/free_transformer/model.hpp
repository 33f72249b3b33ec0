// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mixers/mixer.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"

namespace nudge {

/// Transformer block whose queries may come from another place than its keys and values (Fleuret 2025, "The Free Transformer", section 3.3):
///     n(x) = RMS(x) ∘ n1,  a = in_q + MHA(n(in_q), n(in_kv)) Wo,  y = a + (silu(h Wg) ∘ (h Wu)) Wd,  h = RMS(a) ∘ n2
/// Queries and keys of each head have rotary positions. The scale is 1/√head width, there are no biases, ε = 1e-6. Weights are (in, out),
/// named <prefix>n1, Wq, Wk, Wv, Wo, n2, Wg, Wu, Wd. Wk and Wv have G = `groups` heads, each for heads/G of the queries.
///
/// The paper omits residuals "for clarity": here they come from in_q. So a part of in_kv alone (the latent) reaches the output through
/// attention alone, and one norm serves both inputs.
struct AttentionHeads {
  Index queries = 1;
  Index groups = 1;  ///< G: number of heads of keys and values
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

/// Sizes of a Free Transformer (Fleuret 2025, "The Free Transformer").
struct FreeTransformerShape {
  Index width = 32;  ///< D
  Index heads = 2;   ///< must divide D into even head widths
  Index layers = 2;  ///< even: the latent enters block layers/2
  Index inner = 48;  ///< inner width of the feed-forward parts
  Index encoder_inner = 48;
  Index vocabulary = 29;
  Index bits = 4;             ///< H, 1 to 20: latent vectors are rows of a table of 2^H
  Index key_value_heads = 0;  ///< G, must divide heads (grouped-query attention, as in the paper's 8B model); 0: heads
  bool tied = false;          ///< as in the paper's 1.5B model: the read-out is emb'/√D, not a matrix of its own
};

/// Parameters: b<l>_* and enc_* blocks, emb (V, D), post (2^H, D), zeta (D), enc_nf (D), enc_read (D, H), nf (D), read (D, V)
/// unless tied. UserError naming the wrong size.
std::vector<Field> free_transformer_fields(const FreeTransformerShape& shape);

/// Keys and values that the blocks of a decoder have seen: one cache per layer.
template <class S>
using DecoderCache = std::vector<KeyValueCache<S>>;

/// Decoder whose middle block reads a latent Z_t per token, and an encoder that infers Z from the whole sequence while
/// training. Source: algorithm 2; its line 15 must start at block B/2 + 2, as block B/2 + 1 is the middle one.
///     x = emb[token]; blocks 0 .. L/2 − 1 causal; r_t = post[Z_t]; block L/2 with queries x and keys, values x + r;
///     the rest; logits = (RMS(x) ∘ nf) read, or (RMS(x) ∘ nf) emb'/√D where tied
/// The encoder is one block over x with queries ζ, not causal. Its rotary positions are essential (the paper does not say
/// so): queries that are all ζ would otherwise give identical rows.
template <class S>
class FreeTransformer {
 public:
  /// Takes the parameters, whose values live on one tape, one sequence at a time.
  FreeTransformer(const FreeTransformerShape& shape, const NamedValues<S>& parameters)
      : shape_(shape), parameters_(&parameters) {}

  /// State x after the first half of the blocks, (T, D). With a cache: x of the tokens that follow those seen through it.
  Value<S> lower_half(const SharedIndices& tokens, DecoderCache<S>* cache = nullptr) const;
  Value<S> lower_half(const std::vector<int>& tokens, DecoderCache<S>* cache = nullptr) const;
  /// Logits of the bits, (T, H).
  Value<S> encode(Value<S> x) const;
  /// Token logits (T, V) from the lower half and the latent vectors r (T, D).
  Value<S> upper_half(Value<S> x, Value<S> r, DecoderCache<S>* cache = nullptr) const;
  /// Latent vectors of given indices, and of bits drawn from logits.
  Value<S> latent(const std::vector<int>& indices) const;
  Value<S> latent(Value<S> bit_logits, std::shared_ptr<BitSampler<S>> sampler) const;

 private:
  Value<S> decoder_block(Index layer, Value<S> x, Value<S> in_kv, DecoderCache<S>* cache) const;

  FreeTransformerShape shape_;
  const NamedValues<S>* parameters_;
};

/// Information KL_t = Σ_h (log 2 − H_b(sigmoid(L_th))) of the bits' posterior against fair coins, (T, 1) in nats.
template <class S>
Value<S> latent_information(Value<S> bit_logits);

/// Free-bits penalty (1/T) Σ_t max(0, KL_t − κ), (1, 1): eq. 5's hinge (the text sums whole KL above the threshold: same
/// gradient). UserError for κ < 0 (nats).
template <class S>
Value<S> free_bits(Value<S> information, double kappa);

/// Latent indices for `tokens` positions drawn from the prior (uniform); a pure function of its arguments.
std::vector<int> prior_latents(Index tokens, Index bits, std::uint64_t seed, std::uint32_t sequence);

/// Latent indices for `tokens` positions drawn from the prior with bits from a sampler: fair coins, logits 0, as far as the sampler is fair.
template <class S>
std::vector<int> prior_latents(Index tokens, Index bits, BitSampler<S>& sampler);

/// Latent indices for a prompt, from the encoder that sees the prompt alone (prefill); the positions after it come from
/// the prior.
template <class S>
std::vector<int> prefill_latents(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                                 const std::vector<int>& prompt, Index tokens, BitSampler<S>& sampler,
                                 std::uint64_t seed, std::uint32_t sequence);

/// Continues a prompt to latents.size() tokens: token t+1 is drawn from softmax(logits_t/temperature), temperature = 0 takes the
/// largest. Keys and values of earlier tokens are kept: a token costs one row of the model and its attention. Parameters in the
/// order of free_transformer_fields(). UserError for a negative temperature, an empty prompt, or a prompt longer than the latents.
template <class S>
std::vector<int> generate(const FreeTransformerShape& shape, const std::vector<Matrix<S>>& parameters,
                          std::vector<int> prompt, const std::vector<int>& latents, double temperature,
                          std::uint64_t seed, std::uint32_t sequence);

}  // namespace nudge
