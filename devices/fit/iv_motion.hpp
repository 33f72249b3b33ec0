// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "devices/fit/fit_iv.hpp"
#include "devices/memristor/memristor.hpp"

namespace nudge {

/// Motion and conductance of a law at a point of its coordinates.
struct IvMotion {
  bool vteam = true;
  Vteam resistive;
  Yakopcic conductive;
  double g_min_S = 0, g_max_S = 0, curvature = 0;

  double rate(double x, double v) const { return vteam ? resistive.rate(x, v) : conductive.rate(x, v); }
  double current(double x, double v) const {
    const double g = vteam ? 1 / (1 / g_min_S + x * (1 / g_max_S - 1 / g_min_S)) : g_min_S + x * (g_max_S - g_min_S);
    const double k = std::sqrt(curvature);
    return g * (k * std::abs(v) < 1e-3 ? v : std::sinh(std::clamp(k * v, -300.0, 300.0)) / k);
  }
  /// State after `seconds` in which the voltage goes from v to w.
  double moved(double x, double v, double w, double seconds) const {
    // Speeds fall towards the bound ahead, so that those at the beginning are the largest; a row that passes 0 V may turn round.
    const double back = v * w < 0 ? std::abs(rate(1 - x, w)) : 0;
    const double fastest = std::max({std::abs(rate(x, v)), std::abs(rate(x, w)), back});
    if (fastest == 0) return x;
    constexpr double longest = 0.05;
    const int parts = static_cast<int>(std::clamp(std::ceil(fastest * seconds / longest), 1.0, 40.0));
    const double h = seconds / parts;
    for (int n = 0; n < parts; ++n) {
      const auto f = [&](double at, double part) {
        return rate(std::clamp(at, 0.0, 1.0), v + (w - v) * (n + part) / parts);
      };
      const double a = f(x, 0), b = f(x + h / 2 * a, 0.5), c = f(x + h / 2 * b, 0.5), d = f(x + h * c, 1);
      const double next = x + h / 6 * (a + 2 * b + 2 * c + d);
      x = std::isfinite(next) ? std::clamp(next, 0.0, 1.0) : x;
    }
    return x;
  }
};

/// Device of a law. Its pulses have the voltages at which it switches, and the width that takes 100 mean pulses across the window.
DeviceSpec device_of_law(const IvMotion& m, const IvReads& reads);

/// Warnings of a device with few pulses, or with pulses of very different sizes: what it learns, and which width would do.
std::vector<std::string> pulse_warnings(const DeviceSpec& spec);

}  // namespace nudge
