// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "devices/fit/relaxing_cells.hpp"

namespace nudge {

/// How far tails and persistence of a fitted law are from the cells'.
struct VolatilityFit {
  double persistence_measured = 0, persistence_model = 0;  ///< persistence_of(), mean over levels and pairs of times
  double persistence_error = 0;                            ///< rms over the pairs of times
};

/// Fits volatility and its memory (RelaxationLaw) to the cells, of at least 20 at each time of each level.
///     volatility: a normal number times exp(½ ω h − ¼ ω²) has ⟨|x|⟩/sd = √(2/π) exp(−ω²/8), which unlike a kurtosis is not decided by the two or
///         three farthest cells. A level of 500 cells still knows ω² to .3 only: what is met, at each time, is its straight line over the
///         conductances. The table is moved until simulated cells have the same lines, ω² = 4 w² staying below 3.24 (kurtosis 77): 16000
///         cells know the sd of such a law to 3 %;
///     memory: of .5 to 4 decades by factors of √2 the one with the least squares of persistence_of(), means over levels, of all pairs of times.
VolatilityFit fit_volatility(const std::vector<LevelCells>& levels, RelaxationSpec& spec);

}  // namespace nudge
