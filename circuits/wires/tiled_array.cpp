// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/tiled_array.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Tolerance of the voltages for a derivative: far below what central differences can tell.
constexpr double kGradientTolerance = 1e-10;

/// Tile seen from its near or far ends; from the far ends it is turned around, rows and columns.
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

namespace {

/// Voltages across the devices of a tile whose rows are all at `volts`, over `volts`.
Matrix<double> across(const Matrix<double>& tile, const WireSpec& wires, const CellLaw& law, double volts) {
  const Index rows = tile.rows();
  if ((law.curve.linear() && !law.selector.any()) || volts == 0)
    return LineSolver(tile, wires).device_voltages(Matrix<double>::Ones(1, rows));
  const NonlinearSolution solution = NonlinearSolver(tile, law, wires).solve(Matrix<double>::Constant(1, rows, volts));
  if (solution.status != Status::converged) {
    throw NumericalFailure(fmt::format("crossbar: {} x {} nonlinear devices behind wires did not converge at {:g} V",
                                       rows, tile.cols(), volts));
  }
  return solution.across_V / volts;
}

}  // namespace

DeviceRead read_devices(const Matrix<double>& g, const WireSpec& wires, const TileSpec& tiles,
                        const CurrentCurve& curve, double volts, const SelectorSpec& selector) {
  const CellLaw law(curve, selector);
  const Matrix<double> ideal_A = g.unaryExpr([&](double one) { return law.current(one, volts); }).colwise().sum();
  DeviceRead read{Matrix<double>::Zero(g.rows(), g.cols()), Matrix<double>::Zero(1, g.cols()), ideal_A};
  if (wires.ideal() || g.size() == 0) {
    read.currents_A = read.ideal_A;
    return read;
  }
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index columns) {
    const Matrix<double> tile = g.block(i, j, rows, columns);
    const Matrix<double> share = across(tile, wires, law, volts);
    read.ir_drop.block(i, j, rows, columns) = (1 - share.array()).matrix();
    const auto current = [&](double one, double v) { return law.current(one, v * volts); };
    read.currents_A.middleCols(j, columns) += tile.binaryExpr(share, current).colwise().sum();
  });
  return read;
}

namespace {

Matrix<double> of_tile(const Matrix<double>& g) {
  const Index rows = g.rows(), columns = g.cols(), lines = rows + columns;
  // The last column is the reference: what is left is positive definite.
  Matrix<double> laplacian = Matrix<double>::Zero(lines, lines);
  laplacian.topRightCorner(rows, columns) = -g;
  laplacian.bottomLeftCorner(columns, rows) = -g.transpose();
  laplacian.diagonal() << g.rowwise().sum(), g.colwise().sum().transpose();
  CholeskyFactor factor;
  factor.compute(laplacian.topLeftCorner(lines - 1, lines - 1));
  Matrix<double> inverse = Matrix<double>::Zero(lines, lines);
  inverse.topLeftCorner(lines - 1, lines - 1).setIdentity();
  factor.solve_in_place(inverse.topLeftCorner(lines - 1, lines - 1));
  Matrix<double> seen(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      const Index c = rows + j;
      seen(i, j) = 1 / (inverse(i, i) + inverse(c, c) - 2 * inverse(i, c));
    }
  }
  return seen;
}

}  // namespace

Matrix<double> sneak_conductance(const Matrix<double>& g, const TileSpec& tiles) {
  NUDGE_EXPECT(g.size() == 0 || g.minCoeff() > 0);
  Matrix<double> seen(g.rows(), g.cols());
  for_each_tile(g.rows(), g.cols(), tiles, [&](Index i, Index j, Index rows, Index columns) {
    seen.block(i, j, rows, columns) = of_tile(g.block(i, j, rows, columns));
  });
  return seen;
}

double sneak_share(const Matrix<double>& g, const CellLaw& law, const WireSpec& wires, double volts) {
  constexpr double least_ohm = 1e-3;
  // Devices alone hold a floating line: what currents in wires of least_ohm are rounded by, 1e-13 A, moves it by 1e-8 of the read voltage.
  constexpr double tolerance = 1e-7;
  WireSpec all = wires;
  if (all.rows_ideal()) all.row_ohm = least_ohm;
  if (all.columns_ideal()) all.column_ohm = least_ohm;
  Matrix<double> drive = Matrix<double>::Zero(1, g.rows());
  drive(0, 0) = volts;
  const auto current = [&](const OpenLines& open) {
    const NonlinearSolution found = NonlinearSolver(g, law, all, open).solve(drive, tolerance);
    if (found.status != Status::converged) {
      throw NumericalFailure(
          fmt::format("crossbar: the read of one of {} x {} cells did not converge", g.rows(), g.cols()));
    }
    return found.currents_A(0, g.cols() - 1);
  };
  OpenLines open{std::vector<bool>(static_cast<std::size_t>(g.rows()), true),
                 std::vector<bool>(static_cast<std::size_t>(g.cols()), true)};
  open.rows.front() = false;
  open.columns.back() = false;
  return current(open) / current({}) - 1;
}

namespace {

thread_local const WireWatch* innermost = nullptr;

}  // namespace

WireWatch::WireWatch(Told told) : told_(std::move(told)), outer_(innermost) { innermost = this; }

WireWatch::~WireWatch() { innermost = outer_; }

const WireWatch* WireWatch::current() { return innermost; }

void WireWatch::tell(Index done, Index total) {
  if (innermost != nullptr) innermost->hear(done, total);
}

}  // namespace nudge
