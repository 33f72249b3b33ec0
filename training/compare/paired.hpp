// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "training/sweep/spread.hpp"

namespace nudge {

/// Mean of n differences d_s = x_s − y_s of runs with the same seed. It is one of a family of m means and has a
/// two-sided simultaneous 95 % interval,
///     mean ± t(1 − 0.05/2m, n − 1) · deviation/√n
/// of Student's t (Dunn, J. Am. Stat. Assoc. 56 (1961) 52). With 95 % probability all m intervals hold their values,
/// whatever the correlations and the deviations. This is right for normal differences of seeds drawn independently.
/// Runs with the same seed share initial weights, batches and, where the split is drawn from the seed, parts of the
/// data. One difference has no interval: low and high are then −∞ and +∞. No difference: mean NaN. A failed run has
/// lost against every other. A pair with a failed run has no number as its difference: mean, deviation, low and high
/// are then NaN. The numbers of pairs won and lost remain (sign_test).
struct PairedDifference {
  int seeds = 0, failed = 0;       ///< pairs, and pairs in which a run failed
  double mean = 0, deviation = 0;  ///< mean and standard deviation of the differences (divisor n − 1)
  double low = 0, high = 0;
  int won = 0, lost = 0;  ///< pairs in which x was better, and worse; the others are ties
  int comparisons = 1;    ///< m: differences of the family

  /// True if the interval leaves out 0. If a run failed, or all differences are equal, true if the sign test says so at
  /// the level 0.05/m.
  bool certain() const;
  /// Smallest number of seeds whose interval, at the same deviation, would leave out 0 for a difference of this size.
  /// 0: more than 1000, or no deviation is known.
  int seeds_needed() const;
};

/// Makes the difference one of a family of `comparisons`: sets low and high.
void look_at_together(PairedDifference& difference, int comparisons);

/// Number of differences between any two of k: the family of comparisons with the one that came out best. As the same
/// runs chose it, any pair could have been looked at (Hsu, Multiple Comparisons (1996), chapter 4).
constexpr int comparisons_with_best(int k) { return k < 2 ? 1 : k * (k - 1) / 2; }

/// Text on the smallest difference that the seeds can tell: "3 seeds cannot tell less than 1.2 points here; about 9
/// would tell 0.4 points". Empty where there is no interval. `text` writes a difference.
std::string reach_text(const PairedDifference& difference, const std::function<std::string(double)>& text);

/// Computes the difference of two lists of a result, one of a family of `comparisons`, (higher_is_better) in the order of the seeds. An infinite value
/// means that the run failed. NaN means that there is no value: its seed is left out.
PairedDifference paired_difference(const std::vector<double>& values, const std::vector<double>& baseline,
                                   const std::string& result, int comparisons = 1);

/// Effect on a result of moving one key of a sweep from its first value to another, everything else as it was.
/// `difference` is over seeds: for each seed the mean over all pairs of points that differ in this key alone.
struct KeyEffect {
  std::string key, from, to;  ///< values as text
  std::string among = {};     ///< "estimator = ep": the points that were compared; empty: all
  std::size_t point = 0;      ///< number of the point with the value `to`; point 0 has `from`
  PairedDifference difference;
  CellSpread from_spread, to_spread;  ///< spread of the result over the same pairs
};

/// Results that a verdict on a sweep looks at: the first, and beside an accuracy the validation loss. The loss scatters
/// less than an accuracy of few samples. Empty for an empty list.
std::vector<std::string> headline_results(const std::vector<std::string>& results);

/// Results of a sweep's points by name: infinite where the run failed, NaN where there is none.
using ResultColumns = std::vector<std::pair<std::string, std::vector<double>>>;

/// Effects of all values of all keys on each of the headline_results() of `results`, in their order, the largest first. With `asked`, the
/// effects on this result alone. What is looked at is one family: the effects on the headline results, and those on `asked`. Title,
/// figure and Python ask here, so that an interval is the same wherever it is told.
/// `values[k][i]`: text of keys[k] at point i; `seeds`: of the points. Pairs with a missing result are left out, and so are pairs that
/// failed at both ends: they tell nothing of the key. A failed run is worse than any other, and effects with a failed run come before
/// the others. Of points with several estimators each has effects of its own: a cosine of one is no scatter of another.
std::vector<std::vector<KeyEffect>> key_effects(const std::vector<std::string>& keys,
                                                const std::vector<std::vector<std::string>>& values,
                                                const std::vector<double>& seeds, const ResultColumns& results,
                                                const std::string& asked = "");

}  // namespace nudge
