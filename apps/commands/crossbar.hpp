// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/commands.hpp"

namespace nudge {

/// `nudge crossbar`: what the configured arrays make of the model's initial weights, and their SPICE netlists.
Command crossbar_command();

}  // namespace nudge
