// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// At what voltages the lines of an array lie that are not selected while a cell is written.
enum class WriteBias {
  isolated,  ///< other cells see nothing
  half,      ///< V/2: the selected row at V/2, its column at −V/2, all others at 0
  third,     ///< V/3: the selected row at V, its column at 0, other rows at V/3, other columns at 2V/3
};

/// The lines along which the devices of an array are written, one cell after another.
struct WriteLines {
  WriteBias bias = WriteBias::isolated;
  Index tile_rows = 0, tile_columns = 0;  ///< lines end with their tile; 0: uncut
};

}  // namespace nudge
