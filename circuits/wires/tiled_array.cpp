// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/tiled_array.hpp"

#include <algorithm>

#include "circuits/wires/for_each_tile.hpp"
#include "circuits/wires/line_solver.hpp"
#include "circuits/wires/wire_watch.hpp"

namespace nudge {
namespace {

/// Of the voltages that a derivative is made of: far below what central differences can tell.
constexpr double kGradientTolerance = 1e-10;

/// Far ends: the same array turned around, rows and columns.
Matrix<double> seen_from(PathEnds ends, const Matrix<double>& tile) {
  if (ends == PathEnds::near) return tile;
  return tile.reverse();
}

Matrix<double> tile_gradient(const LineSolver& solver, const Matrix<double>& x, const Matrix<double>& y) {
  const Matrix<double> no_x = Matrix<double>::Zero(1, x.cols()), no_y = Matrix<double>::Zero(1, y.cols());
  Matrix<double> gradient = Matrix<double>::Zero(x.cols(), y.cols());
  for (Index n = 0; n < x.rows(); ++n) {
    if (x.row(n).isZero(0) || y.row(n).isZero(0)) continue;
    const Matrix<double> driven = solver.device_voltages(x.row(n), no_y, kGradientTolerance);
    gradient -= driven.cwiseProduct(solver.device_voltages(no_x, y.row(n), kGradientTolerance));
  }
  return gradient;
}

}  // namespace

Matrix<double> effective_conductance(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles, int threads,
                                     PathEnds ends, double tolerance, DeviceSign sign) {
  if (wires.ideal()) return g;
  Matrix<double> effective(g.rows(), g.cols());
  if (g.size() == 0) return effective;
  Index total = 0, solved = 0;  // rows of all tiles
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index, Index, Index rows, Index) { total += rows; });
  const WireWatch* outer = WireWatch::current();
  const WireWatch all([&](Index done, Index) {
    if (outer != nullptr) outer->hear(solved + done, total);
  });
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index cols) {
    const LineSolver solver(seen_from(ends, g.block(i, j, rows, cols)), wires, sign);
    effective.block(i, j, rows, cols) = seen_from(ends, solver.effective_matrix(tolerance, threads));
    solved += rows;
  });
  return effective;
}

Matrix<double> device_gradient(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles, PathEnds ends,
                               ConstMatrixRef<double> x, ConstMatrixRef<double> y) {
  if (wires.ideal()) return x.transpose() * y;
  Matrix<double> gradient = Matrix<double>::Zero(g.rows(), g.cols());
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index cols) {
    const LineSolver solver(seen_from(ends, g.block(i, j, rows, cols)), wires);
    const auto turned = [ends](const Matrix<double>& drives) -> Matrix<double> {
      if (ends == PathEnds::near) return drives;
      return drives.rowwise().reverse();
    };
    const Matrix<double> tile = tile_gradient(solver, turned(x.middleCols(i, rows)), turned(y.middleCols(j, cols)));
    gradient.block(i, j, rows, cols) = seen_from(ends, tile);
  });
  return gradient;
}

double worst_ir_drop(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles) {
  double worst = 0;
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index cols) {
    worst = std::max(worst, ir_drop_figure(wires, g.block(i, j, rows, cols)));
  });
  return worst;
}

}  // namespace nudge
