// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "netlist/nodal_equations.hpp"

namespace nudge {

/// Fastest rate (1/s) at which a perturbation of an operating point x (unknowns) grows. It is the largest real part of an
/// eigenvalue of −M⁻¹K (ReducedMatrices). Every node has 1 pF to ground beside the drawn capacitors. Above 0 no
/// circuit stays there. Nothing where the state has more than 512 columns, or none, or elements that NodeCoordinates refuses. Nothing
/// either where the rate is below the rounding of the eigenvalues, n 2.2e-16 of the norm of M⁻¹K.
std::optional<double> growth_rate(const NodalEquations& equations, const std::vector<double>& x);

}  // namespace nudge
