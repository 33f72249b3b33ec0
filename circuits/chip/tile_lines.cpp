// SPDX-License-Identifier: Apache-2.0
#include "circuits/chip/tile_lines.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {
namespace {

/// Converters along one side of an array: of all its tiles.
double converters_along(Index all, Index tile, double lines_per_adc) {
  const Index size = tile > 0 ? tile : std::max<Index>(1, all);
  double count = 0;
  for (Index at = 0; at < all; at += size) {
    count += std::ceil(static_cast<double>(std::min(size, all - at)) / lines_per_adc);
  }
  return count;
}

}  // namespace

TileLines& TileLines::operator+=(const TileLines& other) {
  tiles += other.tiles;
  row_lines += other.row_lines;
  column_lines += other.column_lines;
  forward_adcs += other.forward_adcs;
  transposed_adcs += other.transposed_adcs;
  forward_adders += other.forward_adders;
  transposed_adders += other.transposed_adders;
  most_terms = std::max(most_terms, other.most_terms);
  return *this;
}

TileLines tile_lines(Index rows, Index columns, const TileSpec& cut, double copies, double lines_per_adc) {
  const auto down = static_cast<double>(cut.down(rows)), across = static_cast<double>(cut.across(columns));
  const double at_columns = copies * converters_along(columns, cut.columns, lines_per_adc);
  const double at_rows = copies * converters_along(rows, cut.rows, lines_per_adc);
  TileLines out;
  out.tiles = copies * down * across;
  out.row_lines = copies * static_cast<double>(rows) * across;
  out.column_lines = copies * static_cast<double>(columns) * down;
  out.forward_adcs = down * at_columns;
  out.transposed_adcs = across * at_rows;
  out.forward_adders = (down - 1) * at_columns;
  out.transposed_adders = (across - 1) * at_rows;
  out.most_terms = static_cast<long>(std::max(down, across));
  return out;
}

}  // namespace nudge
