// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.hpp"

namespace nudge {

/// What a user of devices ought to know about a run whose devices saw `elapsed_s` seconds pass, a sentence each: retention
/// that was asked for and could not act, because the whole run is shorter than a hundredth of its time constant (t0 of
/// drift, t1 of decay, T of leak; drift then changes a conductance by less than nu ln 1.01, a leak by less than 1 %), and
/// a g_min that cuts the spread of bounds. Empty for digital weights.
std::vector<std::string> device_notes(const Config& config, double elapsed_s);

}  // namespace nudge
