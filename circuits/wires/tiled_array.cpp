// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/tiled_array.hpp"

#include <algorithm>

#include "circuits/wires/line_solver.hpp"

namespace nudge {
namespace {

/// Error of the effective matrix that the solver may leave: three orders below the best converters (2⁻¹⁶ of full scale).
constexpr double kTolerance = 1e-8;

template <class Visit>
void for_each_tile(const Matrix<double>& g, const TileSpec& tiles, Visit visit) {
  const Index rows = tiles.rows > 0 ? tiles.rows : g.rows();
  const Index cols = tiles.columns > 0 ? tiles.columns : g.cols();
  for (Index i = 0; i < g.rows(); i += rows) {
    for (Index j = 0; j < g.cols(); j += cols) visit(i, j, std::min(rows, g.rows() - i), std::min(cols, g.cols() - j));
  }
}

}  // namespace

Matrix<double> effective_conductance(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles, int threads,
                                     PathEnds ends) {
  if (wires.row_ohm == 0 && wires.column_ohm == 0) return g;
  Matrix<double> effective(g.rows(), g.cols());
  if (g.size() == 0) return effective;
  for_each_tile(g, tiles, [&](Index i, Index j, Index rows, Index cols) {
    Matrix<double> tile = g.block(i, j, rows, cols);
    if (ends == PathEnds::far) tile = Matrix<double>(tile.reverse());
    tile = LineSolver(tile, wires).effective_matrix(kTolerance, threads);
    if (ends == PathEnds::far) tile = Matrix<double>(tile.reverse());
    effective.block(i, j, rows, cols) = tile;
  });
  return effective;
}

double worst_ir_drop(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles) {
  double worst = 0;
  for_each_tile(g, tiles, [&](Index i, Index j, Index rows, Index cols) {
    worst = std::max(worst, ir_drop_figure(wires, g.block(i, j, rows, cols)));
  });
  return worst;
}

}  // namespace nudge
