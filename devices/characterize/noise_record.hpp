// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "devices/characterize/characterize.hpp"

namespace nudge {

/// A look is the mean of the conductance at so many equally spaced moments of its interval dt: an integrating read-out. What
/// is faster than dt/64 folds back with 1/64 of its variance, white over 32/dt: beside 1/f noise up to f_max a share
/// (2 f dt/64) ln(f_max dt/32), below 5 % at 1/(8 dt) for f_max dt < 1e6; instantaneous looks would have 64 times that.
constexpr int looks_per_sample = 64;

/// Measures the noise of devices as NoiseRecord says. Spectrum: straight line off, Hann window, periodogram from the fourth
/// multiple of 1/record (below it the window and the line act) to 1/(8 dt), divided by the read-out's known response
/// [sin(π f dt)/(64 sin(π f dt/64))]².
NoiseRecord noise_record(const DeviceSpec& spec, const CharacterizeOptions& options);

}  // namespace nudge
