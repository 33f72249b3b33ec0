// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "devices/step_kernel.hpp"

namespace nudge {

/// Where a device stands along the direction of its pulses: 0 at the bound behind it, 1 at the bound ahead.
template <class S>
S place(const Element<S>& e) {
  return std::clamp(S(1) - (e.upper - e.g) / e.width, S(0), S(1));
}

/// Noise of rules whose pulses within one request are taken as equal: sigma |change|/√n. Exact for one pulse and where the
/// step does not change along the way.
template <class Rule, class S>
S equal_pulse_noise(const Rule& rule, const Element<S>& e, Direction direction, S n, S sigma) {
  return sigma * rule.change(e, direction, n) / std::sqrt(n);
}

}  // namespace nudge
