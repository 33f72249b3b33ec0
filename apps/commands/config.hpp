// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge config check|dump|keys|presets`: what a config means before it is run.
Command config_command();

}  // namespace nudge
