// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mixers/free_transformer/block.hpp"
#include "mixers/ops/bit_mapper.hpp"
#include "mixers/ops/layout.hpp"

namespace nudge {

/// Sizes of a Free Transformer (Fleuret 2025, "The Free Transformer").
struct FreeTransformerShape {
  Index width = 32;  ///< D
  Index heads = 2;   ///< must divide D into even head widths
  Index layers = 2;  ///< even: the latent enters block layers/2
  Index inner = 48;  ///< of the feed-forward parts
  Index encoder_inner = 48;
  Index vocabulary = 29;
  Index bits = 4;             ///< H, 1 to 20: latent vectors are rows of a table of 2^H
  Index key_value_heads = 0;  ///< G, must divide heads (grouped-query attention, as in the paper's 8B model); 0: heads
  bool tied = false;          ///< as in its 1.5B model: the read-out is emb'/√D, not a matrix of its own
};

/// The parameters: b<l>_* and enc_* blocks, emb (V, D), post (2^H, D), zeta (D), enc_nf (D), enc_read (D, H), nf (D),
/// read (D, V) unless tied. UserError naming the size that is wrong.
std::vector<Field> free_transformer_fields(const FreeTransformerShape& shape);

/// What the blocks of a decoder have seen: one cache per layer.
template <class S>
using DecoderCache = std::vector<KeyValueCache<S>>;

/// A decoder whose middle block reads a latent Z_t per token, and an encoder that infers Z from the whole sequence
/// while training (algorithm 2; its line 15 must start at block B/2 + 2, block B/2 + 1 being the middle one):
///     x = emb[token]; blocks 0 .. L/2 − 1 causal; r_t = post[Z_t]; block L/2 with queries x and keys, values x + r;
///     the rest; logits = (RMS(x) ∘ nf) read, or (RMS(x) ∘ nf) emb'/√D where tied
/// The encoder is one block over x with queries ζ, not causal. Its rotary positions are essential (the paper does not
/// say so): queries that are all ζ would otherwise give identical rows.
template <class S>
class FreeTransformer {
 public:
  /// The values live on one tape, one sequence at a time.
  FreeTransformer(const FreeTransformerShape& shape, const NamedValues<S>& parameters)
      : shape_(shape), parameters_(&parameters) {}

  /// x after the first half of the blocks, (T, D). With a cache: of the tokens that follow those seen through it.
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

/// KL_t = Σ_h (log 2 − H_b(sigmoid(L_th))) of the bits' posterior from fair coins, (T, 1) in nats.
template <class S>
Value<S> latent_information(Value<S> bit_logits);

/// The free-bits penalty (1/T) Σ_t max(0, KL_t − κ), (1, 1): eq. 5's hinge (the text sums whole KL above the threshold:
/// same gradient). UserError for κ < 0 (nats).
template <class S>
Value<S> free_bits(Value<S> information, double kappa);

}  // namespace nudge
