// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// The section [sequence]: what a stack of mixers has beside the sizes of [model].
struct SequenceOptions {
  std::string mixer;  ///< of sequence_mixer_names()
  Index blocks = {};
  Index inner = {};  ///< of the feed-forward parts; 0: 8/3 C, up to a multiple of 32
  bool tied = {};    ///< the read-out to the table of symbols
};
const Section<SequenceOptions>& sequence_section();

/// The section [latent], of the Free Transformer.
struct LatentOptions {
  Index bits = {};         ///< H of a token
  double free_bits = {};   ///< κ, bit per token
  std::string sampler;     ///< of bit_source_names()
  double bit_offset = {};  ///< logits; this and the next of the devices that draw bits
  double bit_offset_spread = {}, bit_gain_spread = {}, bit_correlation = {};
  Index pairs = {};  ///< of generated sequences
};
const Section<LatentOptions>& latent_section();

/// The section [argmax].
struct ArgmaxOptions {
  bool free_energy = {};
};
const Section<ArgmaxOptions>& argmax_section();

/// sequence_model: the stack of sequence.mixer (sequence_logits()) on any task of symbols, and on task.kind = forecasting; the last token's vector alone is read on
/// task.kind = compression.
NetworkKind sequence_network();

/// free_transformer: a Free Transformer of sequence.blocks blocks on any task of symbols. The loss is the mean cross-entropy per target
/// plus the free-bits penalty per token. On task.kind = latent what Z carries is measured twice: in the bits that the encoder's Z spares
/// the decoder on a test sequence's place and noise, and in what sequences generated from one prompt with the same Z from the prior have
/// in common, against independent Z; and in the share of generated sequences that follow the rules.
NetworkKind free_transformer_network();

/// argmax_read: one layer that reads once (argmax_read()), on task.kind = argmax.
NetworkKind argmax_network();

}  // namespace nudge
