// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/device_read.hpp"

#include <fmt/format.h>

#include "circuits/wires/for_each_tile.hpp"
#include "circuits/wires/line_solver.hpp"
#include "circuits/wires/nonlinear_solver.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Voltages across the devices of a tile whose rows are all at `volts`, over `volts`.
Matrix<double> across(const Matrix<double>& tile, const WireSpec& wires, const CellLaw& law, double volts) {
  const Index rows = tile.rows();
  if ((law.curve.linear() && !law.selector.any()) || volts == 0)
    return LineSolver(tile, wires).device_voltages(Matrix<double>::Ones(1, rows));
  const NonlinearSolution solution = NonlinearSolver(tile, law, wires).solve(Matrix<double>::Constant(1, rows, volts));
  if (solution.status != Status::converged) {
    throw NumericalFailure(fmt::format("crossbar: {} x {} curved devices behind wires have not been solved at {:g} V",
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
  const bool ideal = wires.row_ohm == 0 && wires.column_ohm == 0;
  if (ideal || g.size() == 0) {
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

}  // namespace nudge
