// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devices/device_spec.hpp"

namespace nudge {

/// Standard deviation over devices and writes of where a device at its lower bound is seen, relative to the window
/// W = g_max − g_min: √((σ_lower ρ)² + (ω/pulses)² + σ_sym²) with the spread of the lower bounds σ_lower (relative to
/// g_reference − g_min = ρ W), write noise ω in mean pulses and the error σ_sym of a reference device (0 without one).
double lower_bound_scatter(const DeviceSpec& spec);

/// The smallest g_min, in siemens, that leaves a distribution of lower bounds as published: sources state windows as weights
/// without a zero of conductance, and a conductance cannot be negative. A bound 4 standard deviations below the mean is at
/// zero, k = 4 lower_bound_scatter, g_min = k W, and with g_max given g_min = g_max k/(1 + k). Then 1 − Φ(4) = 3.2e-5 of the
/// devices are cut, which moves the mean by 7e-6 of the scatter.
double least_g_min_S(const DeviceSpec& spec);

/// Share of devices whose lower bound the rule g ≥ 0 cuts: Φ(−g_min/(W scatter)).
double cut_share(const DeviceSpec& spec);

/// A sentence of warning with what to do where g_min is below least_g_min_S; empty elsewhere.
std::string cut_warning(const DeviceSpec& spec);

}  // namespace nudge
