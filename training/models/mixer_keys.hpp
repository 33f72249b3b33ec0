// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/models/mixer_term.hpp"

namespace nudge {

/// The mixer of a sequence model, in the sizes that it has in tables (sequence_mixer()) but for keys of [mixer] that are not at their
/// defaults. mixer.initial_scale is none of its own.
MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens);

/// The keys of [mixer] for a key that chooses one of these mixers of the registry: each is read where the chosen one reads it
/// (MixerKind::options).
ParamTable mixer_rows(const std::string& choice, const std::vector<std::string>& kinds);

/// The same for a key that chooses one of sequence_mixer_names(), which start from scales of their own.
ParamTable sequence_mixer_rows(const std::string& choice, const std::vector<std::string>& names);

}  // namespace nudge
