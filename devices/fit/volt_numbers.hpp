// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/fit/fit_numbers.hpp"

namespace nudge {

/// Coordinates of the models with volts (has_volts()), behind the bounds. Of pulses of one amplitude in a direction only the speed is a
/// number: threshold and power (of yakopcic: the threshold) stay as in `first`. Two amplitudes give the power too (the threshold of yakopcic),
/// three both.
void add_volt_numbers(FitNumbers& out, const DeviceSpec& first, const std::vector<PulseRecord>& records);

/// Where the search begins: thresholds at half of the smallest amplitude, pulses of which a run leaves about e^-4 of the window; pulse_up,
/// pulse_down and pulse_width are the records' medians. UserError for records without volts.
DeviceSpec first_volt_guess(const std::string& model, const std::vector<PulseRecord>& records);

/// device.pulses of such a model: how many of its pulses cross the window, by those in its middle.
void set_volt_pulses(DeviceSpec& spec);

}  // namespace nudge
