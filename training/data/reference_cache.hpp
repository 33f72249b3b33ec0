// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "training/data/reference_scores.hpp"

namespace nudge {

/// Where what is dear to compute and a function of its key is kept between runs: $NUDGE_CACHE ("off": nowhere), else $XDG_CACHE_HOME/nudge,
/// else $HOME/.cache/nudge; nothing where none of them is set.
std::optional<std::filesystem::path> cache_folder();

/// The scores that are kept under the key, or what compute() returns, which then is kept. A file is believed only where it is whole (its
/// seal), holds the very key, and rows that can be: finite losses, shares in [0, 1], of `samples` training samples. A cache that cannot be read
/// or written is as none. What compute() throws is passed on.
ReferenceScores cached_references(const std::string& key, std::int64_t samples,
                                  const std::function<ReferenceScores()>& compute);

}  // namespace nudge
