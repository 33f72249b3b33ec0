// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mixers/ops/operations.hpp"
#include "mixers/sequence_mixer.hpp"
#include "training/models/mixer_term.hpp"
#include "training/models/tapes/tape_model.hpp"

namespace nudge {

/// Part of the last state that is read.
enum class Readout {
  each_token,   ///< logits of every token, (T, V)
  last_vector,  ///< logits of every token from the last token's vector alone: an auto-encoder
};

/// Sizes of a sequence model.
struct SequenceShape {
  Index vocabulary = 65;  ///< number of symbols V, or of values of a row
  Index features = 0;     ///< features F of a row; 0: rows are symbols
  Index tokens = 64;
  Index width = 128;
  Index heads = 4;
  Index blocks = 2;
  Index inner = 0;  ///< width of the feed-forward parts; 0: 8/3 width, up to a multiple of 32
  double embedding_scale = 0.5;
  std::string mixer = "mha";                         ///< name of the mixer, of sequence_mixer_names()
  std::optional<MixerChoice> choice = std::nullopt;  ///< mixer with options of its own (sequence_choice())
  Readout readout = Readout::each_token;
  bool tied = false;  ///< read-out is emb'/√D (tied_read()); not for features
};

/// Parameters in the order of the computation: emb (V, D), or of features in_W (F, D) and in_b (D). Per block b<l>_n1
/// and the mixer's own, b<l>_n2, Wg, Wu, Wd, with momentum b<l>_beta, b<l>_eta (2). Then nf (D), read (D, V) unless
/// tied; with last_vector dec_*. UserError naming a size.
std::vector<Field> sequence_fields(const SequenceShape& shape);

/// Logits (T, V) of a stack of pre-norm blocks, from x (T, D): its symbols' rows of emb, or features in_W + in_b:
///     per block x ← x + mixer(RMS(x) ∘ n1), x ← x + feed_forward(x)  (or by its StepRule, p = 0 first)
///     logits = (RMS(x) ∘ nf) read, or by tied_read()
/// With last_vector h = the last row of RMS(x) ∘ nf, logits_t = gelu(RMS(h + s_t) W1 + b1) → RMS → read, with s_t the
/// sine and cosine position code. Positions are rotary, in the mixers.
template <class S>
Value<S> sequence_logits(Value<S> x, const SequenceShape& shape, const NamedValues<S>& parameters);

/// Makes a sequence model that learns. The loss of an example is the mean over its rows that count, at least one. Each
/// gives the cross-entropy of its target, or ½|y − logits|² with features.
template <class S>
std::unique_ptr<TapeModel<S>> sequence_tape_model(const SequenceShape& shape);

}  // namespace nudge
