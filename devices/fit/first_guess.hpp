// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/device_spec.hpp"
#include "devices/fit/pulse_csv.hpp"

namespace nudge {

/// Where the search for a model begins, from the single steps dg(g) of the records of one device, without those that end at the extremes of
/// what was measured (cut by a bound): window, mean pulses and shape. linear_step, power_step and label_curve: a line per direction, its slope
/// held within [0, s]; soft_bounds: the line through zero at the bound; exponential_step: s (1 − A exp(γ z)) with the best γ of a grid of 60
/// from 0.05 to 20, and one from −20 to −0.05; piecewise: tables of `points` values, steps below zero taken as zero. Noise of reads biases all of
/// them. UserError for records without steps inside the window.
std::vector<DeviceSpec> first_guesses(const std::vector<PulseRecord>& records, const std::string& model, int points);

/// Whether pulse i ended at the bound ahead, which cut its step.
bool ends_at_bound(const PulseRecord& record, std::size_t i, double g_min_S, double window_S);

}  // namespace nudge
