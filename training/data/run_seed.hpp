// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/config/config.hpp"

namespace nudge {

/// The key seed, of tasks and networks, which know no options of a run.
inline std::uint64_t run_seed(const Config& config) { return static_cast<std::uint64_t>(config.integer("seed")); }

}  // namespace nudge
