// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// nudge merge A.h5 B.h5 ... --out F.h5
Command merge_command();

}  // namespace nudge
