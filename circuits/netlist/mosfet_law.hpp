// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/netlist/junction_law.hpp"

namespace nudge {

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

  /// The current into the drain at v_gs and v_ds, and its slopes.
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

}  // namespace nudge
