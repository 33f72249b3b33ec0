// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Size at which a large array is cut. A tile has at most rows x columns devices, and wires, drivers, amplifiers and converters of its
/// own; the column currents of tiles are added (partial sums). 0: not cut in that direction.
struct TileSpec {
  Index rows = 0;
  Index columns = 0;

  /// Number of tiles, one below the other, of an array of `all` rows.
  Index down(Index all) const { return count(all, rows); }
  /// Number of tiles, side by side, of an array of `all` columns.
  Index across(Index all) const { return count(all, columns); }
  /// Number of tiles, side by side, on which the columns [begin, begin + some) lie.
  Index across(Index begin, Index some) const {
    if (columns == 0 || some == 0) return 1;
    return (begin + some - 1) / columns - begin / columns + 1;
  }

 private:
  static Index count(Index all, Index one) { return one > 0 ? std::max<Index>(1, (all + one - 1) / one) : 1; }
};

}  // namespace nudge
