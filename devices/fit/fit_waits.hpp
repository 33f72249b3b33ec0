// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "devices/fit/fit_pulses.hpp"

namespace nudge {

/// Leak of devices that were read while no pulse came (PulseRecord::waits), of a fit of pulses and leak in one.
struct LeakFit {
  std::size_t reads = 0;                          ///< reads after a wait; 0: the records have none
  double time_s = 0;                              ///< T of the common device
  std::optional<double> low_s = {}, high_s = {};  ///< its 95 % interval; absent: an open end
  double rest_S = 0;                              ///< g_r
  double rms_S = 0, rms_still_S = 0;  ///< what the leak leaves, and what a device leaves that keeps its conductance
  bool shows = false;                 ///< the fit has a leak
};

/// Leak of a fit of records. Where it has none, a warning says so.
LeakFit tell_leak(PopulationFit& fit, const std::vector<LabRecord>& records);

}  // namespace nudge
