// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "devices/flow_model.hpp"
#include "devices/memristor/memristor.hpp"

namespace nudge {

/// How the state x of a memristor shows in its conductance at the read voltage.
enum class StateScale {
  conductance,  ///< g = g_lower + x (g_upper − g_lower)
  resistance,   ///< 1/g = 1/g_lower + x (1/g_upper − 1/g_lower)
};

/// The rule of a memristor under pulses of constant amplitude and width: n pulses last n · width, longer or shorter for a
/// device whose pulse size differs from the mean.
struct PulsedMemristor {
  std::shared_ptr<const ConstantVoltageMotion> up, down;
  double width_up_s, width_down_s;
  double mean_step_S;  ///< window/pulses: devices with this step have the nominal speed
  StateScale scale;

  template <class S>
  S change(const Element<S>& e, Direction direction, S n) const {
    const bool rising = direction == Direction::up;
    const double width = static_cast<double>(e.width);
    double lower = static_cast<double>(rising ? e.upper - e.width : -e.upper);
    // A lower bound that a spread has pushed to zero would be an infinite resistance.
    if (scale == StateScale::resistance) lower = std::max(lower, 1e-4 * width);
    const double g = static_cast<double>(rising ? e.g : -e.g);
    const double x = state(g, lower, width);
    const double seconds =
        static_cast<double>(n) * (rising ? width_up_s : width_down_s) * static_cast<double>(e.step) / mean_step_S;
    const double moved = (rising ? *up : *down).advance(rising ? x : 1 - x, seconds);
    return static_cast<S>(std::abs(conductance_change(x, rising ? moved : -moved, lower, width)));
  }

  template <class S>
  S noise(const Element<S>& e, Direction direction, S n, S sigma) const {
    return equal_pulse_noise(*this, e, direction, n, sigma);
  }

 private:
  double state(double g, double lower, double width) const {
    const double linear = std::clamp((g - lower) / width, 0.0, 1.0);
    if (scale == StateScale::conductance) return linear;
    return std::clamp(linear * (lower + width) / std::max(g, lower), 0.0, 1.0);
  }

  double conductance_change(double x, double dx, double lower, double width) const {
    if (scale == StateScale::conductance) return dx * width;
    // With r = 1/g linear in x: g(x + dx) − g(x) = −g(x) g(x + dx) (r(x + dx) − r(x)).
    const double slope = -width / (lower * (lower + width));
    const double r = 1 / lower + x * slope;
    return -dx * slope / (r * (r + dx * slope));
  }
};

}  // namespace nudge
