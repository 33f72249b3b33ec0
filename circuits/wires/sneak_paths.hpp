// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/wires/nonlinear_solver.hpp"
#include "circuits/wires/tiled_array.hpp"

namespace nudge {

/// What a read between row i and column j of a tile gives when all other lines float, wires ideal: G_ij and what sneaks through the
/// others. With the Laplacian L of the N + M lines, joined by G, and its pseudo-inverse L⁺ it is
///     1/(L⁺_ii + L⁺_jj − 2 L⁺_ij)
/// (effective resistance; one factorisation of order N + M − 1 gives all pairs). N x M equal devices G > 0:
///     G + 1/(1/((M−1) G) + 1/((N−1)(M−1) G) + 1/((N−1) G)) = G N M/(N + M − 1).
/// conductance_S (N, M) > 0 and finite.
Matrix<double> sneak_conductance(const Matrix<double>& conductance_S, const TileSpec& tiles = {});

/// Of the cell farthest from drivers and amplifiers: its current with all other lines floating over that with them at 0 V, less 1. Ideal
/// wires are taken as 1 mOhm per cell. NumericalFailure where one of the two circuits is not solved.
double sneak_share(const Matrix<double>& conductance_S, const CellLaw& law, const WireSpec& wires, double volts);

}  // namespace nudge
