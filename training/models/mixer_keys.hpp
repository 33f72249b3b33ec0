// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/sequence_mixer.hpp"
#include "sim/config/config.hpp"
#include "training/models/mixer_term.hpp"

namespace nudge {

/// Mixer of a sequence model, in its sizes from the tables (sequence_mixer()), except for keys of [mixer] that are not
/// at their defaults. mixer.initial_scale does not apply.
MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens);

/// Table of the keys of [mixer] for a key that chooses one of these mixers of the registry: a key is read where the
/// chosen mixer reads it (MixerKind::options).
ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds);

/// Table of the keys of [mixer] for a key that chooses one of sequence_mixer_names(), which start from scales of their
/// own.
ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names);

}  // namespace nudge
