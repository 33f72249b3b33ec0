// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge train`.
Command train_command();

}  // namespace nudge
