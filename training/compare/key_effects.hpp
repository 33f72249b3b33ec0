// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "training/compare/paired.hpp"
#include "training/sweep/spread.hpp"

namespace nudge {

/// What moving one key of a sweep from its first value to another does to a result, everything else as it was. `difference`
/// is over seeds: for each seed the mean over all pairs of points that differ in this key alone.
struct KeyEffect {
  std::string key, from, to;  ///< values as text
  std::size_t point = 0;      ///< that has the value `to`; that of number 0 has `from`
  PairedDifference difference;
  CellSpread from_spread, to_spread;  ///< of the result, over the same pairs
  /// The 95 % interval leaves out 0; where a run failed, or all differences are equal, the sign test says so at that level.
  bool certain() const;
};

/// The effects of all values of all keys on a result, the largest first. `values[k][i]`: of keys[k] at point i, as text; `seeds` and
/// `results` of the points. Pairs of which one has no result (NaN) are left out; pairs that failed (infinite) at both ends too: they
/// tell nothing of the key. A run that failed at one is worse than any other, and an effect with one comes before the others.
std::vector<KeyEffect> key_effects(const std::vector<std::string>& keys,
                                   const std::vector<std::vector<std::string>>& values,
                                   const std::vector<double>& seeds, const std::vector<double>& results,
                                   const std::string& result);

}  // namespace nudge
