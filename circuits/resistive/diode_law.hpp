// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// Shockley's law of a diode between a node and ground, I = I_s (exp(V/V_T) − 1) from anode to cathode, in any consistent units. V_T = n
/// k_B T/q with an emission coefficient n. Source: W. Shockley, Bell Syst. Tech. J. 28, 435 (1949), eq. 1.2. sign +1: the node is the
/// cathode and is kept above 0. sign −1: it is the anode and is kept below.
struct DiodeLaw {
  double saturation = 0;  ///< I_s
  double thermal = 0;     ///< V_T

  /// Current into a node at v, and minus its slope.
  double current(double v, double sign) const;
  double slope(double v, double sign) const;
  /// Energy Φ with −∂Φ/∂v = current: V_T I_s (exp(−sign v/V_T) + sign v/V_T); convex.
  double energy(double v, double sign) const;

  /// Voltage of a node with the diode. Without the diode it rests at w and is loaded with a conductance of `load` > 0. The
  /// voltage is the root of load (w − v) + current(v), for sign +1
  ///     v = c + V_T ω(ln(I_s/(load V_T)) − c/V_T),   c = w − I_s/load
  /// with Wright's ω (Banwell & Jayakumar, Electron. Lett. 36, 291 (2000), in terms of Lambert's W).
  double settle(double w, double load, double sign) const;
};

/// Wright's ω(x), the root of w + ln w = x for real x, to some roundings. The iteration is by Fritsch, Shafer & Crowley (CACM 16,
/// 123 (1973)), as in Lawrence, Corless & Jeffrey (ACM TOMS 38, 20 (2012), algorithm 917).
double wright_omega(double x);

/// Diode of a hidden node by Shockley's law (DiodeLaw), in A and V. A node kept above 0 is its cathode, the anode is ground;
/// a node kept below 0 is its anode.
struct ShockleyDiode {
  double saturation_A = 1e-14;  ///< I_s; default: SPICE's
  double emission = 1;          ///< n
  double temperature_K = 300;

  double thermal_V() const;  ///< n V_T

  /// Throws UserError naming a number that is not positive and finite.
  void validate() const;

  DiodeLaw law() const { return {saturation_A, thermal_V()}; }
  /// Current into a node at v, and minus its slope, S; sign +1 for a node kept above 0, −1 for one kept below.
  double current_A(double v, double sign) const { return law().current(v, sign); }
  double slope_S(double v, double sign) const { return law().slope(v, sign); }
  double energy_W(double v, double sign) const { return law().energy(v, sign); }
};

}  // namespace nudge
