// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nudge {

/// A temperature and a time since the write at which cells were measured.
struct BakePoint {
  double temperature_K = 0, time_s = 0;
};

/// Cells of one level at one point.
struct BakedCells {
  std::vector<double> starts_S = {};   ///< as written
  std::vector<double> changes_S = {};  ///< since then
};

/// Cells that were written and left at temperatures: cells[level][point], levels by mean start.
struct BakeData {
  std::vector<BakePoint> points = {};  ///< by temperature, then time
  std::vector<std::vector<BakedCells>> cells = {};
  std::size_t left_out = 0;  ///< measurements of levels with fewer than least_baked_cells at some point
};

inline constexpr std::size_t least_baked_cells = 20;  // an sd is then known to 16 % (Gaussian)

/// Reads tables of long_table.hpp. The first: columns cell, time, conductance, temperature_C or temperature_K and, as far as there, start (else the
/// first measurement of the cell at that temperature) and level; without a header cell, time, resistance, conductance, temperature_C.
/// A cell is written anew for each temperature. A second, if there is one: the same without temperatures, all at reference_K; without a header
/// as for fit_relaxation(). Without levels cells are in groups of equal size by start, as many as leave 200 cells to each point, up to 32.
/// Times of one temperature closer than a factor 1.5 are one. UserError with file:line for what parse_long_table() refuses and for temperatures
/// not above 0 K; for fewer than 2 temperatures, or no level with enough cells.
BakeData parse_bake(const std::vector<std::string>& texts, const std::vector<std::string>& files, double reference_K);

}  // namespace nudge
