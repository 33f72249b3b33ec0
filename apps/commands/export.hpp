// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// nudge export F.h5 --csv DIR
Command export_command();

}  // namespace nudge
