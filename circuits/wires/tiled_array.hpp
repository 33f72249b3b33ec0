// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/wires/wire_spec.hpp"

namespace nudge {

/// How a large array is cut: tiles of at most rows x columns devices with wires of their own, whose column currents are
/// added (partial sums). 0: not cut in that direction.
struct TileSpec {
  Index rows = 0;
  Index columns = 0;
};

/// Which ends of the wires drive and sense: those of WireSpec, or the other end of every wire (rows at j = M − 1, columns at
/// i = 0), seen in the same layout.
enum class PathEnds { near, far };

/// What the sense amplifiers see of conductances G (N, M) through the wires of their tiles: currents = volts · result, in
/// siemens. Computed once per programming or update, so that a read stays one product. Ideal wires return G itself. The
/// default tolerance (LineSolver::solve) is three orders below the best converters, 2⁻¹⁶ of full scale.
Matrix<double> effective_conductance(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                                     int threads, PathEnds ends = PathEnds::near, double tolerance = 1e-8,
                                     DeviceSign sign = DeviceSign::positive);

/// ∂/∂G of Σ_n x_n M y_nᵀ, M the matrix of effective_conductance(): x (n, N), y (n, M), result (N, M). With V_n the voltages
/// across the devices while x_n drives the rows and the columns are sensed at 0 V, and Φ_n those while y_n drives the columns at
/// their sensed ends and the rows are at 0 V, it is
///     −Σ_n V_n ∘ Φ_n
/// (the network is reciprocal: its adjoint is itself, driven from the other side), two solves per tile and n to a relative
/// residual of 1e-10. Ideal wires: xᵀ y. NumericalFailure when a tile is not solved.
Matrix<double> device_gradient(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                               PathEnds ends, ConstMatrixRef<double> x, ConstMatrixRef<double> y);

/// The largest ir_drop_figure() of a tile.
double worst_ir_drop(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles);

}  // namespace nudge
