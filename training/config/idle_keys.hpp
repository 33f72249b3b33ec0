// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// The keys of [device] and [crossbar] that were changed, or that a sweep or comparison varies, and that do nothing: device.model is
/// digital, so that there are no devices. Nothing where an axis or an entrant chooses another model or preset.
std::vector<std::string> idle_device_keys(const Config& config);

}  // namespace nudge
