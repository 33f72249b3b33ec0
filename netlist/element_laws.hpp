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

  /// Energy ∫₀ᵛ I dV.
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

  /// Voltage beyond which the exponential outruns Newton's tangent, V_e ln(V_e/(√2 I_s)): there the curvature of the curve is
  /// largest (Nagel 1975, UCB/ERL M520, appendix).
  double critical_V() const { return thermal_V * std::log(thermal_V / (std::sqrt(2.0) * saturation_A)); }

  /// Voltage to which a Newton step from `last` to `next` is limited. In the steep part the current takes the step along its
  /// tangent, and the logarithm gives the voltage of this current (Nagel 1975).
  double limited(double next, double last) const {
    if (next <= critical_V() || std::abs(next - last) <= 2 * thermal_V) return next;
    if (last <= 0) return thermal_V * std::log(next / thermal_V);
    const double grown = 1 + (next - last) / thermal_V;
    return grown > 0 ? last + thermal_V * std::log(grown) : critical_V();
  }
};

/// Level 1 of SPICE (Shichman & Hodges, IEEE JSSC 3 (1968) 285) without body effect (GAMMA = 0), at direct current: for an n-channel
/// transistor and V_ds ≥ 0, with β = KP W/L and V_ov = V_gs − VTO,
///     I_d = 0                                        V_ov ≤ 0
///     I_d = β/2 V_ov² (1 + λ V_ds)                   V_ov ≤ V_ds
///     I_d = β V_ds (V_ov − V_ds/2) (1 + λ V_ds)      V_ov > V_ds
/// Source and drain change places where V_ds < 0; all voltages and currents of a p-channel transistor have the other sign. Junctions
/// from bulk to source and drain (`body`) are diodes of their own.
struct MosfetLaw {
  double threshold_V = 0;       ///< VTO, as the model card has it: of a p-channel transistor usually negative
  double beta_A_per_V2 = 2e-5;  ///< KP W/L; defaults of SPICE: KP = 2e-5 A/V², W = L = 100 um (ngspice manual)
  double modulation_per_V = 0;  ///< LAMBDA
  int sign = 1;                 ///< −1: p-channel
  JunctionLaw body;             ///< bulk junctions, I_s default 1e-14 A

  /// Current into the drain at v_gs and v_ds, and its slopes.
  struct Point {
    double current = 0, by_gate = 0, by_drain = 0;
  };
  Point at(double gate_source, double drain_source) const {
    const double vgs = sign * gate_source, vds = sign * drain_source;
    if (vds >= 0) {
      const Point p = forward(vgs, vds);
      return {sign * p.current, p.by_gate, p.by_drain};
    }
    // I(vgs, vds) = −J(vgd, −vds), vgd = vgs − vds.
    const Point p = forward(vgs - vds, -vds);
    return {-sign * p.current, -p.by_gate, p.by_gate + p.by_drain};
  }

 private:
  Point forward(double vgs, double vds) const {
    const double over = vgs - sign * threshold_V;
    if (over <= 0) return {};
    const double beta = beta_A_per_V2, lengthened = 1 + modulation_per_V * vds;
    if (over <= vds) {
      const double half = 0.5 * beta * over * over;
      return {half * lengthened, beta * over * lengthened, half * modulation_per_V};
    }
    const double shape = vds * (over - vds / 2);
    return {beta * shape * lengthened, beta * vds * lengthened,
            beta * ((over - vds) * lengthened + shape * modulation_per_V)};
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

/// Product W L C_ox² of a gate, F²/m².
inline double gate_F2(double width_m, double length_m, double oxide_m) {
  constexpr double kOxide_F_per_m = 3.9 * 8.854214871e-12;  // as ngspice has it (to 4e-6 of CODATA's)
  const double per_area = kOxide_F_per_m / oxide_m;
  return width_m * length_m * per_area * per_area;
}

}  // namespace nudge
