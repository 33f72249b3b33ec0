// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge case`.
Command case_command();

}  // namespace nudge
