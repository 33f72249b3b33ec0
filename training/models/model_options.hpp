// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/circuit.hpp"
#include "mixers/sequence_mixer.hpp"
#include "sim/config/config.hpp"
#include "sim/config/section.hpp"
#include "training/models/mixer_term.hpp"

namespace nudge {

/// Initial weights of a block, one matrix per parameter, a pure function of the seed. W_q, W_k, W_v ~ N(0, attention²/C), W_o ~ N(0,
/// output²/C), W_m normal with spectral norm `memory`. W_c = coupling_matrix() of a pattern ~ N(0, coupling²/C) with its two gains.
/// tok and pos ~ N(0, embedding²), W_h ~ N(0, 1/C). The weights of another mixer follow its MixerSpec, with deviations times
/// initial_scale.
struct InitialScales {
  double attention = 0.6;
  double output = 0.6;
  double memory = 0.4;
  double embedding = 0.5;
  double coupling = 0;
  double symmetric = 1, antisymmetric = 1;  ///< gains of the coupling's two parts
};

/// Options of the section [model]: sizes that networks of sequences share, and the block's own options.
struct ModelOptions {
  std::string weights;  ///< file of the weights to start from; empty: random
  Index channels = {};  ///< C
  Index tokens = {};    ///< T
  Index memories = {};
  int memory_arrays = {};
  Index heads = {};
  std::string mixer;           ///< MixerChoice::kind
  double attention_gain = {};  ///< s
  double damping = {};         ///< c at the start
  InitialScales scales;
  bool tables_on_devices = {};  ///< put tok and pos on devices, where device.model is not digital

  Damping initial_damping() const { return {attention_gain, damping}; }
};

const Section<ModelOptions>& model_section();
inline ModelOptions model_options(const Config& config) { return model_section().read(config); }

/// Table of model.weights and these rows: the keys that a network of independent samples reads.
ParamTable with_weights(const ParamTable& rows);

/// Section [mixer] as the config has it: mixer_choice() replaces sizes of 0.
const Section<MixerChoice>& mixer_section();

/// Mixer of model.mixer; the sizes that the config leaves at 0 follow from channels and heads.
MixerChoice mixer_choice(const Config& config);

/// Mixer of a sequence model, in its sizes from the tables (sequence_mixer()). Keys of [mixer] that are not at their
/// defaults replace them. mixer.initial_scale does not apply.
MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens);

/// Table of the keys of [mixer] for a key that chooses one of these mixers of the registry. A key is read if the chosen
/// mixer reads it (MixerKind::options).
ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds);

/// Table of the keys of [mixer] for a key that chooses one of sequence_mixer_names(), which start from scales of their
/// own.
ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names);

}  // namespace nudge
