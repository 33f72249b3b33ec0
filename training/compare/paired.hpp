// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "training/sweep/spread.hpp"

namespace nudge {

/// The mean of n differences d_s = x_s − y_s of runs with the same seed (so the same initial weights, batches and, where the split is
/// drawn from the seed, parts of the data), with its two-sided 95 % interval
///     mean ± t(0.975, n − 1) · deviation/√n
/// of Student's t (Student, Biometrika 6 (1908) 1): right for normal differences of seeds drawn independently. One
/// difference has no interval: low and high are then −∞ and +∞. Nothing: mean NaN.
/// A run that failed has lost against every other. A pair with one has no number as its difference: mean, deviation, low and high are
/// then NaN, and what is left to say is how many pairs were won and lost (sign_test).
struct PairedDifference {
  int seeds = 0, failed = 0;       ///< pairs, and those of them in which a run failed
  double mean = 0, deviation = 0;  ///< deviation: of the differences, n − 1
  double low = 0, high = 0;
  int won = 0, lost = 0;  ///< pairs in which x was better, and worse; the others are ties
};

/// Of two lists of a result (higher_is_better) in the order of the seeds. Infinite: the run failed; NaN: there is none, its seed is left
/// out.
PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline,
                                   const std::string& result);

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
