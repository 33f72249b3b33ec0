// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/wires/tile_spec.hpp"

namespace nudge {

/// Lines, converters and adders of the tiles of arrays. A row of the array is a line in each of the tiles that stand side by side, a column
/// in each of those below each other. Lines of a tile take turns at its converters, k at each: ⌈size/k⌉ for a side of `size` lines. The
/// numbers of n tiles are added by n − 1 adders behind every converter of one of them.
struct TileLines {
  double tiles = 0;
  double row_lines = 0, column_lines = 0;
  double forward_adcs = 0, transposed_adcs = 0;  ///< at the columns; at the rows
  double forward_adders = 0, transposed_adders = 0;
  long most_terms = 1;  ///< tiles of the longest sum

  TileLines& operator+=(const TileLines& other);
};

/// Counts the parts of `copies` arrays of rows x columns weights; k = lines_per_adc >= 1.
TileLines tile_lines(Index rows, Index columns, const TileSpec& cut, double copies, double lines_per_adc);

}  // namespace nudge
