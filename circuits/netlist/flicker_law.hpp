// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nudge {

/// 1/f noise of a current as SPICE has it: one-sided spectral density S(f) = a |I|^AF / f in A²/Hz. Of a diode a = KF; of a transistor
/// a = KF/(W L C_ox²), C_ox = 3.9 ε₀/TOX, as ngspice's level 1 computes it (tests/training/netlist_noise_test.cpp measures that; without LD).
struct FlickerLaw {
  double factor = 0;  ///< a, A^(2 − AF); 0: none
  double power = 1;   ///< AF
};

/// TOX where a model card has none (ngspice's level 1).
inline constexpr double kDefaultOxide_m = 1e-7;

/// W L C_ox², F²/m², of a gate.
inline double gate_F2(double width_m, double length_m, double oxide_m) {
  constexpr double kOxide_F_per_m = 3.9 * 8.854214871e-12;  // as ngspice has it (to 4e-6 of CODATA's)
  const double per_area = kOxide_F_per_m / oxide_m;
  return width_m * length_m * per_area * per_area;
}

}  // namespace nudge
