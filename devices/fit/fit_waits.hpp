// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "devices/fit/fit_pulses.hpp"

namespace nudge {

/// Leak of devices that were read while no pulse came (LabRecord::waits).
struct LeakFit {
  std::size_t reads = 0;                               ///< reads after a wait; 0: the records have none
  double time_s = 0, time_low_s = 0, time_high_s = 0;  ///< T with its 95 % interval; an open end is infinity
  double rest_S = 0;                                   ///< g_r
  double rms_S = 0, rms_still_S = 0;  ///< what the leak leaves, and what a device leaves that keeps its conductance
  bool shows = false;                 ///< it is better than no leak by Akaike's criterion, and T has an upper end
};

/// Fits an exponential leak to all waits of all records: from one reading to the next, Δt later,
///     g ← g_r + (g − g_r) exp(−Δt/T),
/// the law of device.leak_time. Least squares over g_r, which is linear, at each T; T between a hundredth of the shortest and a
/// thousand times the longest wait. The interval holds all T whose squares are within the F quantile of the least.
LeakFit fit_waits(const std::vector<LabRecord>& records);

/// Fits the waits of records and gives the common device of a fit its leak, with g_r within the window. Says what it found, or why there is
/// none, as a warning; nothing where the records have no waits.
LeakFit add_leak(PopulationFit& fit, const std::vector<LabRecord>& records);

}  // namespace nudge
