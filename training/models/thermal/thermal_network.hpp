// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"
#include "training/models/registry.hpp"

namespace nudge {

enum class ThermalUnits { real, binary };

/// Options of the section [thermal].
struct ThermalOptions {
  std::vector<Index> hidden;
  ThermalUnits units = {};
  double temperature = {}, stiffness = {}, gain = {};
  double bit_gain_spread = {}, bit_offset_spread = {}, bit_correlation = {};
};
const Section<ThermalOptions>& thermal_section();

/// Network kind thermal: layers above a clamped sample s_0 = x, coupled both ways, in a bath of temperature T,
///     E = Σ_l (½ |s_l|² + ¼ κ Σ s_l⁴ − s_{l−1} W_l s_lᵀ − b_l s_lᵀ),     P(s) ∝ exp(−E/T)
/// with relaxation.solver = sample; any other solver finds its states of least energy, as without a bath. Units are
/// real numbers that Langevin's equation moves, or binary (0 or 1, then without ½ s² + ¼ κ s⁴): stochastic bits, device
/// by device, that see h_i/T. The binary form is a Boltzmann machine, or, with s = (1 + m)/2, an Ising machine of
/// p-bits.
NetworkKind thermal_network();

}  // namespace nudge
