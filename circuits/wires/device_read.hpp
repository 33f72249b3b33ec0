// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/wires/tiled_array.hpp"
#include "devices/current_curve.hpp"
#include "devices/selector.hpp"

namespace nudge {

/// One forward read of an array with all rows at the same voltage V, as its devices see it.
struct DeviceRead {
  Matrix<double>
      ir_drop;  ///< (N, M): 1 − v_ij/V, the share of V that wires, drivers and sense amplifiers take from device (i, j)
  Matrix<double> currents_A;  ///< (1, M), into the sense amplifiers; partial sums of tiles are added
  Matrix<double> ideal_A;     ///< (1, M), the same without resistance of wires: Σ_i G_ij f(V)
};

/// Solves every tile once, straight devices by lines (LineSolver), curved ones by Newton's method (NonlinearSolver).
/// conductance_S (N, M) ≥ 0 and finite, volts finite; at 0 V the drop is that of small voltages. UserError as LineSolver;
/// NumericalFailure where a tile is not solved.
DeviceRead read_devices(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                        const CurrentCurve& curve, double volts, const SelectorSpec& selector = {});

}  // namespace nudge
