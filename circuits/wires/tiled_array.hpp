// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>

#include "circuits/wires/solvers.hpp"
#include "circuits/wires/tile_spec.hpp"
#include "circuits/wires/wire_spec.hpp"
#include "devices/current_curve.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Ends of the wires that drive and sense. near: the ends of WireSpec. far: the other end of every wire (rows at j = M − 1,
/// columns at i = 0), in the same layout.
enum class PathEnds { near, far };

/// Effective conductances as the sense amplifiers see conductances G (N, M) through the wires of their tiles: currents =
/// volts · result, in siemens. Computed once per programming or update, so that a read stays one product. Ideal wires return
/// G itself. The default tolerance (LineSolver::solve) is three orders below the best converters, 2⁻¹⁶ of full scale.
Matrix<double> effective_conductance(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                                     int threads, PathEnds ends = PathEnds::near, double tolerance = 1e-8,
                                     DeviceSign sign = DeviceSign::positive);

/// Gradient ∂/∂G of Σ_n x_n M y_nᵀ, M the matrix of effective_conductance(): x (n, N), y (n, M), result (N, M). V_n are the
/// voltages across the devices while x_n drives the rows and the columns are sensed at 0 V. Φ_n are the voltages while y_n
/// drives the columns at their sensed ends and the rows are at 0 V. The gradient is
///     −Σ_n V_n ∘ Φ_n
/// because the network is reciprocal: its adjoint is itself, driven from the other side. It takes two solves per tile and n,
/// to a relative residual of 1e-10. Ideal wires: xᵀ y. NumericalFailure when a tile is not solved.
Matrix<double> device_gradient(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                               PathEnds ends, ConstMatrixRef<double> x, ConstMatrixRef<double> y);

/// Largest ir_drop_figure() of a tile of cells (CellScale::cells() of devices behind selectors).
double worst_ir_drop(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles);

/// Calls visit(i, j, rows, columns) for every tile of an array of the given size: its first device and its extent.
template <class Visit>
void for_each_tile(Index rows, Index columns, const TileSpec& tiles, Visit visit) {
  const Index tall = tiles.rows > 0 ? tiles.rows : rows;
  const Index wide = tiles.columns > 0 ? tiles.columns : columns;
  for (Index i = 0; i < rows; i += tall) {
    for (Index j = 0; j < columns; j += wide) visit(i, j, std::min(tall, rows - i), std::min(wide, columns - j));
  }
}

/// Forward read of an array with all rows at the same voltage V, as its devices see it.
struct DeviceRead {
  Matrix<double>
      ir_drop;  ///< (N, M): 1 − v_ij/V, the share of V that wires, drivers and sense amplifiers take from device (i, j)
  Matrix<double> currents_A;  ///< (1, M), into the sense amplifiers; partial sums of tiles are added
  Matrix<double> ideal_A;     ///< (1, M), currents without resistance of wires: Σ_i G_ij f(V)
};

/// Solves every tile once, straight devices by lines (LineSolver), curved ones by Newton's method (NonlinearSolver).
/// conductance_S (N, M) ≥ 0 and finite, volts finite. At 0 V the drop is the limit of small voltages. UserError as
/// LineSolver; NumericalFailure where a tile is not solved.
DeviceRead read_devices(const Matrix<double>& conductance_S, const WireSpec& wires, const TileSpec& tiles,
                        const CurrentCurve& curve, double volts, const SelectorSpec& selector = {});

/// Conductances of reads between row i and column j of a tile when all other lines float and wires are ideal. They contain
/// G_ij and the sneak paths through the other lines. With the Laplacian L of the N + M lines, joined by G, and its
/// pseudo-inverse L⁺ it is
///     1/(L⁺_ii + L⁺_jj − 2 L⁺_ij)
/// (effective resistance; one factorisation of order N + M − 1 gives all pairs). N x M equal devices G > 0:
///     G + 1/(1/((M−1) G) + 1/((N−1)(M−1) G) + 1/((N−1) G)) = G N M/(N + M − 1).
/// conductance_S (N, M) > 0 and finite.
Matrix<double> sneak_conductance(const Matrix<double>& conductance_S, const TileSpec& tiles = {});

/// Sneak share of the cell farthest from drivers and amplifiers: I_floating/I_grounded − 1, its currents with all other
/// lines floating and at 0 V. Ideal wires are taken as 1 mOhm per cell. NumericalFailure if one of the two circuits is not
/// solved.
double sneak_share(const Matrix<double>& conductance_S, const CellLaw& law, const WireSpec& wires, double volts);

/// Guard: while it lives, wire solves of many rows that the calling thread starts report their progress. The calling thread
/// alone calls `told(done, total)`, in rows of the array. Watches nest, and the innermost is told. No result changes.
class WireWatch {
 public:
  using Told = std::function<void(Index done, Index total)>;

  explicit WireWatch(Told told);
  ~WireWatch();
  WireWatch(const WireWatch&) = delete;
  WireWatch& operator=(const WireWatch&) = delete;

  /// Innermost watch of this thread; null: nobody watches.
  static const WireWatch* current();
  static void tell(Index done, Index total);
  void hear(Index done, Index total) const { told_(done, total); }

 private:
  Told told_;
  const WireWatch* outer_;
};

}  // namespace nudge
