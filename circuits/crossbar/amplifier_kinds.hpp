// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nudge {

/// A published amplifier, as it senses a line of an array: what circuit.amplifier names. Its closed-loop bandwidth, noise and offset at a
/// node follow from the load L of the line: GBW/(1 + L), e_n (1 + L), V_os (1 + L).
struct AmplifierKind {
  std::string name;
  std::string summary;
  double gain_bandwidth_Hz;
  double noise_V;   ///< input noise density e_n, V/√Hz
  double offset_V;  ///< standard deviation of the raw input offset
  double power_W;   ///< from its supply
  std::string citation;

  /// Power of an amplifier of this architecture that has another gain-bandwidth or noise. Both ask for transconductance, GBW = gm/(2π C)
  /// and e_n² ∝ 1/gm, and gm is proportional to the supply current: P = P₀ max(GBW/GBW₀, (e_n₀/e_n)²).
  double scaled_power_W(double gain_bandwidth_Hz, double noise_V) const;
};

/// The amplifiers that circuit.amplifier can name.
const std::vector<AmplifierKind>& amplifier_kinds();

/// The amplifier of a name; null for none.
const AmplifierKind* find_amplifier(const std::string& name);

/// Amplifier of circuits on devices where none is named: the first of amplifier_kinds().
const AmplifierKind& default_amplifier();

}  // namespace nudge
