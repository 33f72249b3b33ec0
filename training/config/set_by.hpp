// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sim/config/config.hpp"

namespace nudge {

/// Text of what gave a key its value: "run.toml:12:9", "--set", or of values that follow from another choice that choice,
/// "hardware.level = mixed", "device.preset ecram".
std::string set_by(const Config& config, const std::string& key);

/// Block of at most ten lines on what the user did not say and a training reads: keys that a preset or the level of
/// hardware set, by what set them, and keys that are left to the program (auto). Empty: none. It is made from the
/// origins of the values alone; `nudge config check` has every value.
std::string choices_text(const Config& config);

}  // namespace nudge
