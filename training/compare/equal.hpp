// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/compare/compare.hpp"

namespace nudge {

/// Gives every method of a comparison so many steps that its training takes the energy of the first method's, for compare.equal = energy.
/// That is N = N₁ E₁/E, with the energy E of a step (cost_measures()) over four steps, at the first point of the grid and the first test
/// seed. Sets CompareProtocol::equal. UserError: train.steps is a setting of a method or of the grid, or a method has no circuit to cost.
void equalise(const ConfigSource& source, CompareProtocol& protocol);

}  // namespace nudge
