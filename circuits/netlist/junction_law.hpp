// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace nudge {

/// kT/q at 27 °C, the nominal temperature of SPICE (CODATA 2018 constants).
inline constexpr double kSpiceThermal_V = 1.380649e-23 * 300.15 / 1.602176634e-19;

/// A current and its slope.
struct CurrentSlope {
  double current = 0, slope = 0;
};

/// The junction diode of SPICE at direct current, without its series resistance and without gmin, V_e = N k T/q:
///     I = I_s (exp(V/V_e) − 1)                   V ≥ −3 V_e
///     I = −I_s (1 + (3 V_e/(e V))³)              V < −3 V_e      (e = 2.718…)
/// Source: ngspice manual, "Junction diodes", DC equations. Beyond kLargest exponents the law goes on as its tangent: no state of a
/// circuit is there, and Newton's steps may be. Limits: one temperature, no breakdown, no recombination.
struct JunctionLaw {
  double saturation_A = 1e-14;         ///< IS; default of SPICE (ngspice manual, parameter IS)
  double thermal_V = kSpiceThermal_V;  ///< N kT/q

  CurrentSlope at(double volts) const {
    constexpr double kLargest = 200;
    const double x = volts / thermal_V;
    if (x < -3) {
      const double ratio = 3 / (x * std::exp(1.0)), cube = ratio * ratio * ratio;
      return {-saturation_A * (1 + cube), 3 * saturation_A * cube / volts};
    }
    const double edge = std::min(x, kLargest), grown = saturation_A * std::exp(edge);
    return {grown * (1 + x - edge) - saturation_A, grown / thermal_V};
  }

  /// ∫₀ᵛ I dV.
  double energy(double volts) const {
    constexpr double kLargest = 200;
    const double x = volts / thermal_V, scale = saturation_A * thermal_V;
    if (x < -3) {
      const double floor = std::exp(-3.0);  // (3/e)³/(2 x²) is 1.5 e⁻³ at x = −3, and e⁻³ − 1 + 3 there
      return scale * (-x + 13.5 * floor / (x * x) - 0.5 * floor - 1);
    }
    const double edge = std::min(x, kLargest), beyond = x - edge;
    return scale * (std::exp(edge) * (1 + beyond + beyond * beyond / 2) - 1 - x);
  }

  /// Where the exponential begins to outrun Newton's tangent, V_e ln(V_e/(√2 I_s)): there the curvature of the curve is largest
  /// (Nagel 1975, UCB/ERL M520, appendix).
  double critical_V() const { return thermal_V * std::log(thermal_V / (std::sqrt(2.0) * saturation_A)); }

  /// The voltage that a Newton step from `last` to `next` may have: in the steep part the step is that of the current on its tangent,
  /// taken back through the logarithm (Nagel 1975).
  double limited(double next, double last) const {
    if (next <= critical_V() || std::abs(next - last) <= 2 * thermal_V) return next;
    if (last <= 0) return thermal_V * std::log(next / thermal_V);
    const double grown = 1 + (next - last) / thermal_V;
    return grown > 0 ? last + thermal_V * std::log(grown) : critical_V();
  }
};

}  // namespace nudge
