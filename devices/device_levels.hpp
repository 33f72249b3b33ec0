// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "devices/device_spec.hpp"

namespace nudge {

/// Conductance that programming aims at: the nearest of device.levels, equally far apart from g_min to g_max.
inline double nearest_level_S(const DeviceSpec& device, double g_S) {
  if (device.levels == 0) return g_S;
  const double apart = device.window_S() / (device.levels - 1);
  const double place = std::round((g_S - device.g_min_S) / apart);
  return device.g_min_S + apart * std::clamp(place, 0.0, device.levels - 1);
}

}  // namespace nudge
