// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace nudge {

/// Thermal voltage kT/q at 27 °C, the nominal temperature of SPICE (CODATA 2018 constants).
inline constexpr double kSpiceThermal_V = 1.380649e-23 * 300.15 / 1.602176634e-19;

/// Current of an element and its slope.
struct CurrentSlope {
  double current = 0, slope = 0;
};

/// The junction diode of SPICE at direct current, without its series resistance and without gmin, V_e = N k T/q:
///     I = I_s (exp(V/V_e) − 1)                   V ≥ −3 V_e
///     I = −I_s (1 + (3 V_e/(e V))³)              V < −3 V_e      (e = 2.718…)
/// Source: ngspice manual, "Junction diodes", DC equations. Beyond kLargest exponents the law goes on as its tangent: no state of a
/// circuit is there, and Newton's steps may be. With IKF a forward current I is I/(1 + √(I/IKF)); beyond the breakdown voltage V_b
///     I = −I_s exp(−(V + V_b)/V_r)               V < −V_b, V_r = NBV k T/q
/// V_b follows from BV and IBV (breakdown_start of the cards): at −BV flows −IBV − I_s (1 − V_b/V_r). Limits: no recombination (ISR).
struct JunctionLaw {
  double saturation_A = 1e-14;         ///< IS; default of SPICE (ngspice manual, parameter IS)
  double thermal_V = kSpiceThermal_V;  ///< N kT/q
  double knee_A = 0;                   ///< IKF; 0: none
  double breakdown_V = 0;              ///< V_b; 0: none
  double reverse_V = 0;                ///< V_r

  CurrentSlope at(double volts) const {
    if (breakdown_V > 0 && volts < -breakdown_V) {
      const double x = -(volts + breakdown_V) / reverse_V, edge = std::min(x, kLargest);
      const double grown = saturation_A * std::exp(edge);
      return {-grown * (1 + x - edge), grown / reverse_V};
    }
    const CurrentSlope plain = without_knee(volts);
    if (!(knee_A > 0) || !(plain.current > 0)) return plain;
    const double root = std::sqrt(plain.current / knee_A), part = 1 + root;
    return {plain.current / part, plain.slope * (1 + 0.5 * root) / (part * part)};
  }

  /// Energy ∫₀ᵛ I dV.
  double energy(double volts) const {
    if (breakdown_V > 0 && volts < -breakdown_V) {
      const double x = -(volts + breakdown_V) / reverse_V, edge = std::min(x, kLargest), beyond = x - edge;
      const double grown = std::exp(edge) * (1 + beyond + beyond * beyond / 2) - 1;
      return energy_without_knee(-breakdown_V) + saturation_A * reverse_V * grown;
    }
    if (!(knee_A > 0) || !(volts > 0)) return energy_without_knee(volts);
    // With u = √(I/IKF) and s = I_s/IKF, dV = V_e 2 u du/(u² + s): a rational function of u.
    const double s = saturation_A / knee_A, u = std::sqrt(without_knee(volts).current / knee_A), root = std::sqrt(s);
    const double rest = (std::log1p(u) + 0.5 * s * std::log1p(u * u / s) + s * root * std::atan(u / root)) / (1 + s);
    return 2 * knee_A * thermal_V * (u - rest);
  }

  /// Voltage beyond which the exponential outruns Newton's tangent, V_e ln(V_e/(√2 I_s)): there the curvature of the curve is
  /// largest (Nagel 1975, UCB/ERL M520, appendix).
  double critical_V() const { return critical(thermal_V); }

  /// Voltage to which a Newton step from `last` to `next` is limited. In the steep part the current takes the step along its
  /// tangent, and the logarithm gives the voltage of this current (Nagel 1975). In breakdown the curve is a junction's turned round.
  double limited(double next, double last) const {
    const bool reverse = breakdown_V > 0 && next < std::min(0.0, 10 * reverse_V - breakdown_V);
    if (reverse) return -breakdown_V - held_back(-breakdown_V - next, -breakdown_V - last, reverse_V);
    return held_back(next, last, thermal_V);
  }

 private:
  static constexpr double kLargest = 200;

  CurrentSlope without_knee(double volts) const {
    const double x = volts / thermal_V;
    if (x < -3) {
      const double ratio = 3 / (x * std::exp(1.0)), cube = ratio * ratio * ratio;
      return {-saturation_A * (1 + cube), 3 * saturation_A * cube / volts};
    }
    const double edge = std::min(x, kLargest), grown = saturation_A * std::exp(edge);
    return {grown * (1 + x - edge) - saturation_A, grown / thermal_V};
  }

  double energy_without_knee(double volts) const {
    const double x = volts / thermal_V, scale = saturation_A * thermal_V;
    if (x < -3) {
      const double floor = std::exp(-3.0);  // (3/e)³/(2 x²) is 1.5 e⁻³ at x = −3, and e⁻³ − 1 + 3 there
      return scale * (-x + 13.5 * floor / (x * x) - 0.5 * floor - 1);
    }
    const double edge = std::min(x, kLargest), beyond = x - edge;
    return scale * (std::exp(edge) * (1 + beyond + beyond * beyond / 2) - 1 - x);
  }

  /// Voltage beyond which the exponential outruns Newton's tangent, V_e ln(V_e/(√2 I_s)): there the curvature of the curve is
  /// largest (Nagel 1975, UCB/ERL M520, appendix).
  double critical(double width_V) const { return width_V * std::log(width_V / (std::sqrt(2.0) * saturation_A)); }

  double held_back(double next, double last, double width_V) const {
    if (std::abs(next - last) <= 2 * width_V || next <= critical(width_V)) return next;  // the logarithm is asked last
    if (last <= 0) return width_V * std::log(next / width_V);
    const double grown = 1 + (next - last) / width_V;
    return grown > 0 ? last + width_V * std::log(grown) : critical(width_V);
  }
};

/// Capacitance of a junction at the voltage V across it (ngspice manual, "Junction diodes", capacitance equations), with the transit time τ:
///     C = τ dI/dV + C₀ (1 − V/V_j)^−M                               V < FC V_j
///     C = τ dI/dV + C₀ (1 − FC)^−(1+M) (1 − FC (1 + M) + M V/V_j)   V ≥ FC V_j
struct JunctionCharge {
  double zero_bias_F = 0;  ///< C₀
  double potential_V = 1;  ///< V_j
  double grading = 0.5;    ///< M
  double corner = 0.5;     ///< FC
  double transit_s = 0;    ///< τ
  JunctionLaw junction = {};

  double farads(double volts) const {
    const double diffusion = transit_s > 0 ? transit_s * junction.at(volts).slope : 0;
    if (volts < corner * potential_V) return diffusion + zero_bias_F * std::pow(1 - volts / potential_V, -grading);
    const double line = 1 - corner * (1 + grading) + grading * volts / potential_V;
    return diffusion + zero_bias_F * std::pow(1 - corner, -1 - grading) * line;
  }
};

/// 1/f noise of a current as SPICE has it: one-sided spectral density S(f) = a |I|^AF / f in A²/Hz. For a diode a = KF. For a transistor a
/// = KF/(W L C_ox²), C_ox = 3.9 ε₀/TOX, as ngspice's level 1 computes it (tests/training/netlist_noise_test.cpp measures that; without LD).
struct FlickerLaw {
  double factor = 0;  ///< a, A^(2 − AF); 0: none
  double power = 1;   ///< AF
};

/// Default of TOX for model cards without it (ngspice's level 1).
inline constexpr double kDefaultOxide_m = 1e-7;

/// Permittivity of a gate's oxide as ngspice has it (to 4e-6 of CODATA's).
inline constexpr double kOxide_F_per_m = 3.9 * 8.854214871e-12;

/// Product W L C_ox² of a gate, F²/m².
inline double gate_F2(double width_m, double length_m, double oxide_m) {
  const double per_area = kOxide_F_per_m / oxide_m;
  return width_m * length_m * per_area * per_area;
}

}  // namespace nudge
