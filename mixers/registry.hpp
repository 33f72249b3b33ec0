// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mixers/mixer.hpp"

namespace nudge {

/// All kinds of mixers, in the order of the list in registry.cpp. To add one: a function `template <class S>
/// MixerKind<S> <name>_mixer()` in a file of its family, and its name in that list; the conformance tests loop over it.
template <class S>
const std::vector<MixerKind<S>>& mixer_kinds();

/// UserError with the closest names for an unknown one.
template <class S>
const MixerKind<S>& mixer_kind(const std::string& name);

}  // namespace nudge
