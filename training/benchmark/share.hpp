// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace nudge {

/// A number with its interval, or the reason why there is none.
struct Share {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  double value = none, low = none, high = none;
  std::string unknown = {};  ///< reason why there is no number; empty: there is one

  bool known() const { return unknown.empty(); }
  /// True if the interval leaves out 0.
  bool significant() const { return known() && (low > 0 || high < 0); }
};

/// Share of what digital weights learn beyond a null that a device learns too,
///     rho = mean(x − n) / mean(e − n),
/// from scores of n seeds: x of the device, e of digital weights, n of the null. 1: as much as digital weights. 0: no more
/// than the null. The interval is Fieller's (J. R. Stat. Soc. B 16 (1954) 175): all rho for which the mean of
/// d_s = (x_s − n_s) − rho (e_s − n_s) is not significantly different from 0,
///     mean(d)² ≤ t(1 − 0.05/2m, n − 1)² var(d)/n.
/// It is exact for normal differences that are correlated in any way. It is one of a family of m: with 95 % all of them
/// hold their values. Whether scores or losses are given does not matter. `better` is +1 if a
/// higher score is better, −1 otherwise. The share is unknown in these cases:
/// - fewer than two seeds, or a value that is not finite;
/// - digital weights are not significantly better than the null: the interval would be unbounded;
/// - no seed differs from another: the runs then do not say how they scatter.
Share learnt_share(std::span<const double> device, std::span<const double> exact, std::span<const double> null,
                   double better, int comparisons);

/// Mean of shares whose intervals hold together. The mean lies between the means of their ends whenever all of them
/// hold (Bonferroni). Unknown if one of them is.
Share mean_share(const std::vector<Share>& shares);

/// Place of one of p numbers in their order, the largest first.
struct RankRange {
  int rank = 0;             ///< 1 + number of larger values; equal values have the same rank
  int first = 0, last = 0;  ///< interval of the rank
  int of = 0;               ///< p
};

/// Ranks of numbers whose intervals hold together. If they hold, the true rank of j lies between
///     1 + #{k: low_k > high_j}  and  p − #{k: high_k < low_j}
/// (Klein, Wright and Wieczorek, J. R. Stat. Soc. C 69 (2020) 589). All of them must be known.
std::vector<RankRange> rank_ranges(const std::vector<Share>& shares);

}  // namespace nudge
