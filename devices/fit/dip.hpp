// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace nudge {

/// Dip of values: the least distance, over all distribution functions G with one mode, of the empirical distribution function from G,
///     D = min over G of max over x of |F_n(x) − G(x)|,   1/(2n) ≤ D ≤ 1/4
/// (Hartigan and Hartigan, Ann. Stat. 13:70 (1985)). It depends on the order of the values and their distances within a mode alone:
/// far tails do not raise it. Needs a value.
double dip_of(std::vector<double> values);

/// True if n values have more than one mode: √n D above 0.72. A uniform distribution, the one-mode distribution with the largest dips,
/// passes that once in a thousand (4000 samples of 2000 values).
bool has_two_modes(const std::vector<double>& values);

}  // namespace nudge
