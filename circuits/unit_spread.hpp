// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Static mismatch of the circuits that bend the states of a node's units, one circuit per unit: unit j has ρ_j(s) = ρ((1 +
/// g_j) s + o_j). In a box [lower, upper] it has the limits lower + o_j and (1 + g_j) upper + o_j.
struct UnitSpread {
  std::vector<double> gain;    ///< g_j
  std::vector<double> offset;  ///< o_j, in units of the state
};

/// Draws the normal deviations of a node's units, a pure function of the seed and the node; gains cut at ±½. Null if both
/// standard deviations are 0.
std::shared_ptr<const UnitSpread> drawn_units(double gain_spread, double offset_spread, Index units, std::uint64_t seed,
                                              std::uint32_t node);

}  // namespace nudge
