// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "training/compare/paired.hpp"
#include "training/sweep/spread.hpp"

namespace nudge::report {

/// What moving one key of a sweep from its first value to another does to a result, everything else as it was. `difference`
/// is over seeds: for each seed the mean over all pairs of points that differ in this key alone.
struct Effect {
  std::string key, from, to;  ///< values as text
  PairedDifference difference;
  CellSpread from_spread = {}, to_spread = {};  ///< of the result, over the same pairs
  bool certain() const;  ///< the 95 % interval leaves out 0; where a run failed, the sign test says so at that level
};

/// The effects of all values of all keys on a result, the largest first. Pairs of which one has no result are left
/// out; pairs that failed at both ends too. A run that failed at one is worse than any other, and an effect with one comes before the others. Empty for sweeps in which all keys change from point to point.
std::vector<Effect> ranked_effects(const Table& points, const std::string& result);

/// Spearman's rank correlation of a numeric key with a result, over the points that have one; NaN below three points.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// How closely a result goes with a key of names: the root of the share of the variance of its ranks that the names tell apart, less
/// what as many names would by chance (ε² of Kelley, PNAS 21:554 (1935)); what the square of a rank correlation is of a number. NaN
/// below three points, for a single name, and where every point has its own.
double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y);

}  // namespace nudge::report
