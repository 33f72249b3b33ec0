// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/config.hpp"
#include "training/models/mixer_term.hpp"

namespace nudge {

/// The mixer of a sequence model, in the sizes that it has in tables (sequence_mixer()) but for keys of [mixer] that are not at their
/// defaults. mixer.initial_scale is none of its own.
MixerChoice sequence_choice(const Config& config, const std::string& name, Index channels, Index heads, Index tokens);

/// Keys of [mixer] that are not at their defaults and change none of the mixers that a run makes of its config: neither their
/// parameters nor what they compute on a few tokens, which is tried. All of them where a run makes no mixer.
std::vector<std::string> unread_mixer_keys(const Config& config,
                                           const std::vector<std::function<MixerChoice(const Config&)>>& mixers);

}  // namespace nudge
