// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "training/sweep/spread.hpp"

namespace nudge {

/// Mean of n differences d_s = x_s − y_s of runs with the same seed, with its two-sided 95 % interval
///     mean ± t(0.975, n − 1) · deviation/√n
/// of Student's t (Student, Biometrika 6 (1908) 1): right for normal differences of seeds drawn independently. Runs
/// with the same seed share initial weights, batches and, where the split is drawn from the seed, parts of the data.
/// One difference has no interval: low and high are then −∞ and +∞. No difference: mean NaN. A failed run has lost
/// against every other. A pair with a failed run has no number as its difference: mean, deviation, low and high are
/// then NaN. The numbers of pairs won and lost remain (sign_test).
struct PairedDifference {
  int seeds = 0, failed = 0;       ///< pairs, and pairs in which a run failed
  double mean = 0, deviation = 0;  ///< mean and standard deviation of the differences (divisor n − 1)
  double low = 0, high = 0;
  int won = 0, lost = 0;  ///< pairs in which x was better, and worse; the others are ties
};

/// Computes the difference of two lists of a result (higher_is_better) in the order of the seeds. An infinite value
/// means that the run failed. NaN means that there is no value: its seed is left out.
PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline,
                                   const std::string& result);

/// Effect on a result of moving one key of a sweep from its first value to another, everything else as it was.
/// `difference` is over seeds: for each seed the mean over all pairs of points that differ in this key alone.
struct KeyEffect {
  std::string key, from, to;  ///< values as text
  std::size_t point = 0;      ///< number of the point with the value `to`; point 0 has `from`
  PairedDifference difference;
  CellSpread from_spread, to_spread;  ///< spread of the result over the same pairs
  /// True if the 95 % interval leaves out 0; where a run failed, or all differences are equal, if the sign test says so
  /// at that level.
  bool certain() const;
};

/// Effects of all values of all keys on a result, the largest first. `values[k][i]`: text of keys[k] at point i;
/// `seeds` and `results`: of the points. Pairs with a missing result (NaN) are left out, and so are pairs that failed
/// (infinite) at both ends: they tell nothing of the key. A failed run is worse than any other, and effects with a
/// failed run come before the others.
std::vector<KeyEffect> key_effects(const std::vector<std::string>& keys,
                                   const std::vector<std::vector<std::string>>& values,
                                   const std::vector<double>& seeds, const std::vector<double>& results,
                                   const std::string& result);

}  // namespace nudge
