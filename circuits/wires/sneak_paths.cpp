// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/sneak_paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "circuits/wires/for_each_tile.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
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
  all.row_ohm = std::max(wires.row_ohm, least_ohm);
  all.column_ohm = std::max(wires.column_ohm, least_ohm);
  Matrix<double> drive = Matrix<double>::Zero(1, g.rows());
  drive(0, 0) = volts;
  const auto current = [&](const OpenLines& open) {
    const NonlinearSolution found = NonlinearSolver(g, law, all, open).solve(drive, tolerance);
    if (found.status != Status::converged) {
      throw NumericalFailure(
          fmt::format("crossbar: a read of one of {} x {} cells has not been solved", g.rows(), g.cols()));
    }
    return found.currents_A(0, g.cols() - 1);
  };
  OpenLines open{std::vector<bool>(static_cast<std::size_t>(g.rows()), true),
                 std::vector<bool>(static_cast<std::size_t>(g.cols()), true)};
  open.rows.front() = false;
  open.columns.back() = false;
  return current(open) / current({}) - 1;
}

}  // namespace nudge
