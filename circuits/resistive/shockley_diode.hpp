// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/resistive/diode_law.hpp"

namespace nudge {

/// A diode of a hidden node as Shockley's law has it (DiodeLaw), in A and V. A node kept above 0 is its cathode, the anode is ground; a
/// node kept below 0 is its anode.
struct ShockleyDiode {
  double saturation_A = 1e-14;  ///< I_s; the default is that of SPICE
  double emission = 1;          ///< n
  double temperature_K = 300;

  double thermal_V() const;  ///< n V_T

  /// UserError naming what is not positive and finite.
  void validate() const;

  DiodeLaw law() const { return {saturation_A, thermal_V()}; }
  /// Current into a node at v, and minus its slope, S; sign +1 for a node kept above 0, −1 for one kept below.
  double current_A(double v, double sign) const { return law().current(v, sign); }
  double slope_S(double v, double sign) const { return law().slope(v, sign); }
  double energy_W(double v, double sign) const { return law().energy(v, sign); }
};

}  // namespace nudge
