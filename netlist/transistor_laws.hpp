// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlist/element_laws.hpp"

namespace nudge {

/// Field-effect transistor at direct current, of an n-channel; all voltages and currents of a p-channel have the other sign. Two laws:
///
/// Level 1 of SPICE (Shichman & Hodges, IEEE JSSC 3 (1968) 285), with β = KP W/L and V_ov = V_gs − V_th, for V_ds ≥ 0:
///     I_d = 0                                        V_ov ≤ 0
///     I_d = β/2 V_ov² (1 + λ V_ds)                   V_ov ≤ V_ds
///     I_d = β V_ds (V_ov − V_ds/2) (1 + λ V_ds)      V_ov > V_ds
///     V_th = VTO + γ (√(φ − V_bs) − √φ), for V_bs > 0 the tangent of the root, and not below 0
/// Source and drain change places where V_ds < 0.
///
/// EKV of a long channel (Enz, Krummenacher & Vittoz, Analog Integr. Circuits Signal Process. 8 (1995) 83; n with 4 U_T as in Bucher et al.,
/// The EPFL-EKV MOSFET Model Equations, version 2.6, 1997), voltages against the bulk, continuous from weak to strong inversion:
///     I_d = 2 n β U_T² (F((V_p − V_s)/U_T) − F((V_p − V_d)/U_T)),      F(u) = ln²(1 + exp(u/2))
///     V_g' = V_g − VTO + φ + γ √φ,     V_p = V_g' − φ − γ (√(V_g' + γ²/4) − γ/2), and −φ where V_g' ≤ 0
///     n = 1 + γ/(2 √(V_p + φ + 4 U_T))
///
/// Junctions from bulk to source and drain (`body`) are diodes of their own.
struct MosfetLaw {
  double threshold_V = 0;       ///< VTO, as the model card has it: of a p-channel transistor usually negative
  double beta_A_per_V2 = 2e-5;  ///< KP W/L; defaults of SPICE: KP = 2e-5 A/V², W = L = 100 um (ngspice manual)
  double modulation_per_V = 0;  ///< LAMBDA
  int sign = 1;                 ///< −1: p-channel
  JunctionLaw body = {};        ///< bulk junctions, I_s default 1e-14 A
  double body_factor = 0;       ///< γ, GAMMA, in √V
  double surface_V = 0.6;       ///< φ, PHI; default of SPICE
  bool ekv = false;
  double thermal_V = kSpiceThermal_V;  ///< U_T = kT/q of EKV

  /// Current into the drain at v_gs, v_ds and v_bs, and its slopes.
  struct Point {
    double current = 0, by_gate = 0, by_drain = 0, by_bulk = 0;
  };
  Point at(double gate_source, double drain_source, double bulk_source) const {
    const double vgs = sign * gate_source, vds = sign * drain_source, vbs = sign * bulk_source;
    if (ekv) {
      const Point p = in_all_regions(vgs, vds, vbs);
      return {sign * p.current, p.by_gate, p.by_drain, p.by_bulk};
    }
    if (vds >= 0) {
      const Point p = forward(vgs, vds, vbs);
      return {sign * p.current, p.by_gate, p.by_drain, p.by_bulk};
    }
    // I(vgs, vds, vbs) = −J(vgd, −vds, vbd), vgd = vgs − vds, vbd = vbs − vds.
    const Point p = forward(vgs - vds, -vds, vbs - vds);
    return {-sign * p.current, -p.by_gate, p.by_gate + p.by_drain + p.by_bulk, -p.by_bulk};
  }

  /// Threshold of an n-channel transistor of level 1 at V_bs.
  double threshold_at(double bulk_source) const { return threshold(bulk_source).value; }

  /// Conductance G of the channel's white noise, S = 4 k T G on one side:
  ///     level 1   β V_ov ⅔ (1 + η + η²)/(1 + η)    η = 1 − V_ds/V_ov, 0 in saturation (van der Ziel 1962; Tsividis, Operation and
  ///                                                Modeling of the MOS Transistor): ⅔ g_m there, g_ds at V_ds = 0
  ///     EKV       2 n β U_T (⅔ (x_f² + x_f x_r + x_r²)/(x_f + x_r) − ½)   (Enz et al. 1995): shot noise 2 q I in weak inversion; with
  ///               x = ½ + F', the charge by the slope of F, it is g_ds at V_ds = 0 in all regions
  double noise_S(double gate_source, double drain_source, double bulk_source) const {
    double vgs = sign * gate_source, vds = sign * drain_source, vbs = sign * bulk_source;
    if (ekv) {
      const Pinched at = pinched(vgs - vbs);
      const double f = 0.5 + forward_charge(at.volts + vbs).slope, r = 0.5 + forward_charge(at.volts + vbs - vds).slope;
      return 2 * at.factor * beta_A_per_V2 * thermal_V * (2.0 / 3.0 * (f * f + f * r + r * r) / (f + r) - 0.5);
    }
    if (vds < 0) {  // source and drain change places
      vgs -= vds;
      vbs -= vds;
      vds = -vds;
    }
    const double over = vgs - threshold(vbs).value;
    if (over <= 0) return 0;
    const double eta = std::max(0.0, 1 - vds / over);
    return beta_A_per_V2 * over * (1 + modulation_per_V * vds) * 2.0 / 3.0 * (1 + eta + eta * eta) / (1 + eta);
  }

 private:
  struct ValueSlope {
    double value, slope;
  };
  struct Pinched {
    double volts, slope;          ///< V_p and dV_p/dV_g
    double factor, factor_slope;  ///< n and dn/dV_g
  };

  /// V_th, and its slope by V_bs.
  ValueSlope threshold(double vbs) const {
    if (body_factor == 0) return {sign * threshold_V, 0};
    const double rest = std::sqrt(surface_V);
    const double root = vbs <= 0 ? std::sqrt(surface_V - vbs) : std::max(0.0, rest - vbs / (2 * rest));
    const double slope = vbs <= 0 ? -0.5 / root : (root > 0 ? -0.5 / rest : 0);
    return {sign * threshold_V + body_factor * (root - rest), body_factor * slope};
  }

  Point forward(double vgs, double vds, double vbs) const {
    const ValueSlope threshold_at = threshold(vbs);
    const double over = vgs - threshold_at.value;
    if (over <= 0) return {};
    const double beta = beta_A_per_V2, lengthened = 1 + modulation_per_V * vds;
    Point p;
    if (over <= vds) {
      const double half = 0.5 * beta * over * over;
      p = {half * lengthened, beta * over * lengthened, half * modulation_per_V};
    } else {
      const double shape = vds * (over - vds / 2);
      p = {beta * shape * lengthened, beta * vds * lengthened,
           beta * ((over - vds) * lengthened + shape * modulation_per_V)};
    }
    p.by_bulk = -threshold_at.slope * p.by_gate;
    return p;
  }

  Pinched pinched(double vg) const {
    const double raised = vg - sign * threshold_V + surface_V + body_factor * std::sqrt(surface_V);
    double volts = -surface_V, slope = 0;
    if (raised > 0) {
      const double root = std::sqrt(raised + body_factor * body_factor / 4);
      volts = raised - surface_V - body_factor * (root - body_factor / 2);
      slope = 1 - body_factor / (2 * root);
    }
    const double depth = volts + surface_V + 4 * thermal_V, root = std::sqrt(depth);
    return {volts, slope, 1 + body_factor / (2 * root), -body_factor / (4 * depth * root) * slope};
  }

  /// F(v/U_T), and its slope by u = v/U_T.
  ValueSlope forward_charge(double v) const {
    const double half = v / (2 * thermal_V), grown = std::exp(-std::abs(half));
    const double logarithm = std::max(half, 0.0) + std::log1p(grown);
    return {logarithm * logarithm, logarithm * (half > 0 ? 1 : grown) / (1 + grown)};
  }

  Point in_all_regions(double vgs, double vds, double vbs) const {
    const Pinched at = pinched(vgs - vbs);
    const ValueSlope f = forward_charge(at.volts + vbs), r = forward_charge(at.volts + vbs - vds);
    const double scale = 2 * beta_A_per_V2 * thermal_V;
    const double by_gate =
        scale * (thermal_V * at.factor_slope * (f.value - r.value) + at.factor * (f.slope - r.slope) * at.slope);
    const double by_drain = scale * at.factor * r.slope, by_source = -scale * at.factor * f.slope;
    return {scale * thermal_V * at.factor * (f.value - r.value), by_gate, by_drain, -(by_gate + by_drain + by_source)};
  }
};

/// Charge of the gate of a level-1 transistor (Meyer, RCA Rev. 32 (1971) 42, as ngspice has it), C = W L ε/TOX, V_ov = V_gs − V_th. The voltage
/// s is V_ov, but at least 25 mV. Capacitances from the gate to bulk, source and drain, for V_ds ≥ 0:
///     V_ov ≤ −φ          C_gb = C
///     −φ < V_ov ≤ 0      C_gb = −C V_ov/φ,  C₀ = max(⅔ C (1 + 2 V_ov/φ), 0)
///     V_ov > 0           C_gb = 0,  C₀ = ⅔ C
///     C_gs = C₀,  C_gd = 0                                          V_ds ≥ s
///     C_gs = C₀ (1 − ((s − V_ds)/d)²),  C_gd = C₀ (1 − (s/d)²),  d = 2 s − V_ds      V_ds < s
/// Limit: charge is not conserved over a cycle, as with all capacitances of this form.
struct GateCharge {
  enum class Plate { source, drain, bulk };
  MosfetLaw law = {};
  double oxide_F = 0;  ///< C
  Plate to = Plate::source;

  double farads(double gate_source, double drain_source, double bulk_source) const {
    double vgs = law.sign * gate_source, vds = law.sign * drain_source, vbs = law.sign * bulk_source;
    const bool turned = vds < 0;  // source and drain change places
    if (turned) {
      vgs -= vds;
      vbs -= vds;
      vds = -vds;
    }
    const double over = vgs - law.threshold_at(vbs), phi = law.surface_V;
    if (to == Plate::bulk) return oxide_F * std::clamp(-over / phi, 0.0, 1.0);
    const double both = 2 * oxide_F / 3 * std::clamp(1 + 2 * over / phi, 0.0, 1.0);
    const double edge = std::max(over, kLeastEdge_V);
    const bool at_source = (to == Plate::source) != turned;
    if (vds >= edge) return at_source ? both : 0;
    const double part = (at_source ? edge - vds : edge) / (2 * edge - vds);
    return both * (1 - part * part);
  }

 private:
  static constexpr double kLeastEdge_V = 0.025;  // of ngspice
};

}  // namespace nudge
