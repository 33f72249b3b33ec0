// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/flicker_noise.hpp"
#include "circuits/netlist/nodal_equations.hpp"
#include "circuits/read_context.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Two-sided spectral density of the white noise of an element's current at the voltages v of the nodes, in A²/Hz; `value`
/// NodalEquations::values.
///     resistor    2 k T g                              thermal (Nyquist, Phys. Rev. 32 (1928) 110): 4 k T g on one side
///     diode       q (I + 2 I_s), and 2 k T gmin        shot of both directions (ngspice manual: 2 q I on one side); at rest 2 k T of its slope
///     transistor  2 k T ⅔ β V_ov (1 + η + η²)/(1 + η)  channel, η = 1 − V_ds/V_ov, 0 in saturation (van der Ziel 1962; Tsividis, Operation and
///                 Modeling of the MOS Transistor): ⅔ g_m there, g_ds at V_ds = 0; its junctions are left out
/// All others have none.
double current_noise_A2_per_Hz(const Element& e, double value, const std::vector<double>& v, double gmin_S,
                               double temperature_K);

/// Draws of the noise of all elements of a netlist, a pure function of the reads so far of a sample: white noise, and 1/f noise of those that have it.
class CurrentNoise {
 public:
  CurrentNoise(const NodalEquations& equations, double slowest_s)
      : equations_(&equations), flicker_(equations.netlist(), slowest_s) {}

  /// Of the next read of a relaxation whose unit of time is tau_s, for so many states side by side.
  void draw(Index rows, double tau_s, ReadContext& read);

  /// out (unknowns or nodes) ← currents in A that leave the nodes in one state: of white noise √(density/Δ) times a normal deviate per
  /// element, Δ the interval of the read that was drawn last.
  void leave(Index row, double temperature_K, const std::vector<double>& values, const std::vector<double>& v,
             std::vector<double>& out) const;

 private:
  const NodalEquations* equations_;
  FlickerNoise flicker_;
  double scale_ = 0;  ///< 1/√Δ
  std::vector<double> draws_;
};

}  // namespace nudge
