// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlist/element_laws.hpp"

namespace nudge {

/// Bipolar transistor at direct current (Gummel & Poon, Bell Syst. Tech. J. 49 (1970) 827, as the ngspice manual has it), of an npn between its
/// inner nodes; all voltages and currents of a pnp have the other sign:
///     I_c = (I_f − I_r)/q_b − I_r/BR − I_c2,     I_b = I_f/BF + I_e2 + I_r/BR + I_c2
///     I_f, I_r = IS (exp(v/(N k T/q)) − 1), N = NF and NR;   I_e2, I_c2: ISE and NE, ISC and NC        (JunctionLaw)
///     q_b = q₁/2 (1 + √(1 + 4 q₂)),   q₁ = 1/(1 − v_bc/VAF − v_be/VAR),   q₂ = I_f/IKF + I_r/IKR
/// The resistance of its base falls with its current (`spreads`), with x = |I_b|/IRB and z = (√(1 + 14.59025 x) − 1)/(2.4317 √x):
///     r = RBM + (RB − RBM)/q_b,  or with IRB  r = RBM + 3 (RB − RBM) (tan z − z)/(z tan² z)
struct BipolarLaw {
  int sign = 1;                                          ///< −1: pnp
  double forward_gain = 100, reverse_gain = 1;           ///< BF, BR; defaults of SPICE
  double early_per_V = 0, reverse_early_per_V = 0;       ///< 1/VAF, 1/VAR
  double knee_per_A = 0, reverse_knee_per_A = 0;         ///< 1/IKF, 1/IKR
  JunctionLaw forward = {1e-16}, reverse = {1e-16};      ///< IS with NF, with NR
  JunctionLaw emitter_leak = {0}, collector_leak = {0};  ///< ISE with NE, ISC with NC
  double least_base_Ohm = 0, spread_Ohm = 0;             ///< RBM and RB − RBM
  double base_knee_A = 0;                                ///< IRB; 0: none

  bool spreads() const { return spread_Ohm > 0; }

  /// Currents into the collector and the base, and their slopes by v_be and v_bc.
  struct Point {
    double collector = 0, base = 0;
    double collector_by_be = 0, collector_by_bc = 0, base_by_be = 0, base_by_bc = 0;
    double base_Ohm = 0, base_Ohm_by_be = 0, base_Ohm_by_bc = 0;  ///< r, if it spreads
  };
  /// q_b of the base and its slopes by v_be and v_bc, and I_f and I_r, all of an npn.
  struct BaseCharge {
    double qb, by_be, by_bc;
    CurrentSlope forward, reverse;
  };
  BaseCharge base_charge(double vbe, double vbc) const {
    const CurrentSlope f = forward.at(vbe), r = reverse.at(vbc);
    const double q1 = 1 / (1 - vbc * early_per_V - vbe * reverse_early_per_V);
    const double root = std::sqrt(std::max(1e-12, 1 + 4 * (f.current * knee_per_A + r.current * reverse_knee_per_A)));
    const double qb = q1 / 2 * (1 + root);
    return {qb, q1 * (qb * reverse_early_per_V + f.slope * knee_per_A / root),
            q1 * (qb * early_per_V + r.slope * reverse_knee_per_A / root), f, r};
  }
  Point at(double base_emitter, double base_collector) const {
    const double vbe = sign * base_emitter, vbc = sign * base_collector;
    const BaseCharge charge = base_charge(vbe, vbc);
    const CurrentSlope &f = charge.forward, &r = charge.reverse;
    const CurrentSlope e = leak(emitter_leak, vbe), c = leak(collector_leak, vbc);
    const double qb = charge.qb, qb_by_be = charge.by_be, qb_by_bc = charge.by_bc;
    const double transport = (f.current - r.current) / qb;
    Point p;
    p.collector = sign * (transport - r.current / reverse_gain - c.current);
    p.base = sign * (f.current / forward_gain + e.current + r.current / reverse_gain + c.current);
    p.collector_by_be = (f.slope - transport * qb_by_be) / qb;
    p.collector_by_bc = (-r.slope - transport * qb_by_bc) / qb - r.slope / reverse_gain - c.slope;
    p.base_by_be = f.slope / forward_gain + e.slope;
    p.base_by_bc = r.slope / reverse_gain + c.slope;
    if (spreads()) add_base_resistance(charge, p);
    return p;
  }

 private:
  /// Share (tan z − z)/(z tan² z) and its slope by z; a series where their digits would cancel.
  static CurrentSlope crowded(double z) {
    constexpr double kSmall = 0.05;  // the next term of the series is 1e-10 there
    if (z < kSmall) {
      const double square = z * z;
      return {(1 - 4.0 / 15 * square - 4.0 / 105 * square * square) / 3, -(8.0 / 15 + 16.0 / 105 * square) * z / 3};
    }
    const double t = std::tan(z), over = t - z, by_t = 1 + t * t;
    return {over / (z * t * t), 1 / z - over / (z * z * t * t) - 2 * over * by_t / (z * t * t * t)};
  }

  void add_base_resistance(const BaseCharge& charge, Point& p) const {
    if (!(base_knee_A > 0)) {
      p.base_Ohm = least_base_Ohm + spread_Ohm / charge.qb;
      const double by_qb = -sign * spread_Ohm / (charge.qb * charge.qb);
      p.base_Ohm_by_be = by_qb * charge.by_be;
      p.base_Ohm_by_bc = by_qb * charge.by_bc;
      return;
    }
    constexpr double kLeast = 1e-9, kA = 14.59025, kB = 2.4317;  // of SPICE
    const double share = sign * p.base / base_knee_A, x = std::max(share, kLeast);
    const double root = std::sqrt(x), grown = std::sqrt(1 + kA * x), z = (grown - 1) / (kB * root);
    const CurrentSlope part = crowded(z);
    p.base_Ohm = least_base_Ohm + 3 * spread_Ohm * part.current;
    if (share <= kLeast) return;
    const double z_by_x = (kA * root / (2 * grown) - (grown - 1) / (2 * root)) / (kB * x);
    const double by_base = 3 * spread_Ohm * part.slope * z_by_x * sign / base_knee_A;
    p.base_Ohm_by_be = by_base * p.base_by_be;
    p.base_Ohm_by_bc = by_base * p.base_by_bc;
  }

  static CurrentSlope leak(const JunctionLaw& law, double volts) {
    return law.saturation_A > 0 ? law.at(volts) : CurrentSlope{};
  }
};

/// Charge of the carriers that cross the base of a bipolar transistor forward (ngspice manual, "Gummel-Poon charge equations"), for v_be > 0:
///     Q = τ I_f (1 + a)/q_b,   a = XTF (I_f/(I_f + ITF))² exp(v_bc/(1.44 VTF)),   τ = TF
/// farads() is its slope by v_be, or by v_bc. Limit: no excess phase (PTF).
struct TransitCharge {
  BipolarLaw law = {};
  double transit_s = 0;                               ///< TF
  double growth = 0, growth_per_V = 0, growth_A = 0;  ///< XTF, 1/(1.44 VTF), ITF; 0: none
  bool by_collector = false;                          ///< slope by v_bc

  double farads(double base_emitter, double base_collector) const {
    const double vbe = law.sign * base_emitter, vbc = law.sign * base_collector;
    if (!(vbe > 0)) return 0;
    const BipolarLaw::BaseCharge charge = law.base_charge(vbe, vbc);
    const CurrentSlope& f = charge.forward;
    double grown = growth * std::exp(vbc * growth_per_V), by_current = grown;
    if (growth_A > 0) {
      const double part = f.current / (f.current + growth_A);
      grown *= part * part;
      by_current = grown * (3 - 2 * part);
    }
    const double moved = f.current * (1 + grown) / charge.qb;
    if (by_collector) return transit_s * (f.current * grown * growth_per_V - moved * charge.by_bc) / charge.qb;
    return transit_s * (f.slope * (1 + by_current) - moved * charge.by_be) / charge.qb;
  }
};

}  // namespace nudge
