// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// nudge watch F.h5: follows a run, sweep, comparison or experiment of another process from its file.
Command watch_command();

}  // namespace nudge
