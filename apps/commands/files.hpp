// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge info`: what is in a file.
Command info_command();

/// `nudge report`: files as one HTML page.
Command report_command();

}  // namespace nudge
