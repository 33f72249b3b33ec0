// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

/// Options of the section [sequence]: a stack of mixers, beside the sizes of [model].
struct SequenceOptions {
  std::string mixer;  ///< name of the mixer, of sequence_mixer_names()
  Index blocks = {};
  Index inner = {};  ///< width of the feed-forward parts; 0: 8/3 C, up to a multiple of 32
  bool tied = {};    ///< tie the read-out to the table of symbols
};
const Section<SequenceOptions>& sequence_section();

/// Options of the section [latent] of the Free Transformer.
struct LatentOptions {
  Index bits = {};         ///< latent bits H of a token
  double free_bits = {};   ///< κ, bit per token
  std::string sampler;     ///< source of the bits, of bit_source_names()
  double bit_offset = {};  ///< offset of the devices that draw bits, in logits; the next keys are theirs too
  double bit_offset_spread = {}, bit_gain_spread = {}, bit_correlation = {};
  Index pairs = {};  ///< pairs of generated sequences
};
const Section<LatentOptions>& latent_section();

/// Options of the section [argmax].
struct ArgmaxOptions {
  bool free_energy = {};
};
const Section<ArgmaxOptions>& argmax_section();

/// Network kind sequence_model: the stack of sequence.mixer (sequence_logits()) on any task of symbols, and on
/// task.kind = forecasting. On task.kind = compression only the last token's vector is read.
NetworkKind sequence_network();

/// Network kind free_transformer: a Free Transformer of sequence.blocks blocks on any task of symbols. The loss is the
/// mean cross-entropy per target plus the free-bits penalty per token. On task.kind = latent three more numbers are
/// measured. First, the bits that the encoder's Z spares the decoder on a test sequence's place and noise. Second, what
/// sequences generated from one prompt with the same Z from the prior have in common, against independent Z. Third, the
/// share of generated sequences that follow the rules.
NetworkKind free_transformer_network();

/// Network kind argmax_read: one layer that reads once (argmax_read()), on task.kind = argmax.
NetworkKind argmax_network();

}  // namespace nudge
