// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "circuits/wires/tiled_array.hpp"

namespace nudge {

/// visit(i, j, rows, columns) for every tile of an array of the given size: its first device and its extent.
template <class Visit>
void for_each_tile(Index rows, Index columns, const TileSpec& tiles, Visit visit) {
  const Index tall = tiles.rows > 0 ? tiles.rows : rows;
  const Index wide = tiles.columns > 0 ? tiles.columns : columns;
  for (Index i = 0; i < rows; i += tall) {
    for (Index j = 0; j < columns; j += wide) visit(i, j, std::min(tall, rows - i), std::min(wide, columns - j));
  }
}

}  // namespace nudge
