// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge devices`.
Command devices_command();

}  // namespace nudge
