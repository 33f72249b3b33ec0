// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge compare`: the same tuning for every entrant, then paired differences over fresh seeds.
Command compare_command();

}  // namespace nudge
