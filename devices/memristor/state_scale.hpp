// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace nudge {

/// How the state x of a memristor shows in its conductance at the read voltage.
enum class StateScale {
  conductance,  ///< g = g_lower + x (g_upper − g_lower)
  resistance,   ///< 1/g = 1/g_lower + x (1/g_upper − 1/g_lower)
};

/// The state, in [0, 1], of a conductance between `lower` and `lower + width`.
inline double memristor_state(StateScale scale, double g, double lower, double width) {
  const double linear = std::clamp((g - lower) / width, 0.0, 1.0);
  if (scale == StateScale::conductance) return linear;
  return std::clamp(linear * (lower + width) / std::max(g, lower), 0.0, 1.0);
}

/// What a change dx of the state at x does to the conductance.
inline double memristor_change(StateScale scale, double x, double dx, double lower, double width) {
  if (scale == StateScale::conductance) return dx * width;
  // With r = 1/g linear in x: g(x + dx) − g(x) = −g(x) g(x + dx) (r(x + dx) − r(x)).
  const double slope = -width / (lower * (lower + width));
  const double r = 1 / lower + x * slope;
  return -dx * slope / (r * (r + dx * slope));
}

}  // namespace nudge
