// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/tiled_array.hpp"

#include <algorithm>

#include "circuits/wires/for_each_tile.hpp"
#include "circuits/wires/line_solver.hpp"
#include "circuits/wires/wire_watch.hpp"

namespace nudge {
namespace {

/// Error of the effective matrix that the solver may leave: three orders below the best converters (2⁻¹⁶ of full scale).
constexpr double kTolerance = 1e-8;

}  // namespace

Matrix<double> effective_conductance(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles, int threads,
                                     PathEnds ends) {
  if (wires.row_ohm == 0 && wires.column_ohm == 0) return g;
  Matrix<double> effective(g.rows(), g.cols());
  if (g.size() == 0) return effective;
  Index total = 0, solved = 0;  // rows of all tiles
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index, Index, Index rows, Index) { total += rows; });
  const WireWatch* outer = WireWatch::current();
  const WireWatch all([&](Index done, Index) {
    if (outer != nullptr) outer->hear(solved + done, total);
  });
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index cols) {
    Matrix<double> tile = g.block(i, j, rows, cols);
    if (ends == PathEnds::far) tile = Matrix<double>(tile.reverse());
    tile = LineSolver(tile, wires).effective_matrix(kTolerance, threads);
    if (ends == PathEnds::far) tile = Matrix<double>(tile.reverse());
    effective.block(i, j, rows, cols) = tile;
    solved += rows;
  });
  return effective;
}

double worst_ir_drop(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles) {
  double worst = 0;
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index cols) {
    worst = std::max(worst, ir_drop_figure(wires, g.block(i, j, rows, cols)));
  });
  return worst;
}

}  // namespace nudge
