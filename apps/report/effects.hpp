// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/report/run_file.hpp"
#include "training/compare/key_effects.hpp"

namespace nudge::report {

/// key_effects() of a sweep. Empty for sweeps in which all keys change from point to point.
std::vector<KeyEffect> ranked_effects(const Table& points, const std::string& result);

/// Spearman's rank correlation of a numeric key with a result, over the points that have one; NaN below three points.
double rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

/// How closely a result goes with a key of names: the root of the share of the variance of its ranks that the names tell apart, less
/// what as many names would by chance (ε² of Kelley, PNAS 21:554 (1935)); what the square of a rank correlation is of a number. NaN
/// below three points, for a single name, and where every point has its own.
double rank_ratio(const std::vector<std::string>& names, const std::vector<double>& y);

}  // namespace nudge::report
