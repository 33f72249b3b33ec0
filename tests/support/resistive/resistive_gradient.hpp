// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/support/resistive/resistive_solver.hpp"

namespace nudge::test {

/// Derivatives with respect to all conductances and biases, layer 1 first.
using ResistiveGradient = std::vector<ResistiveLayer>;

/// Makes a gradient of the network's shapes, all 0.
ResistiveGradient zero_gradient(const ResistiveNetwork& network);

/// Applies equilibrium propagation's rule: every resistor compares half the square of its drop d between two states,
///     gradient += scale · (c_l/c_L) · Σ_samples [½ d²(plus) − ½ d²(minus)]
/// (Kendall et al. 2020, arXiv 2006.01981; the factor is that of the amplifiers, c_l/c_L = Π_{m=l}^{L−1} A_m²). Rail
/// resistors do the same with their drops, current sources use −(v(plus) − v(minus)). For ∂C/∂θ of the batch mean: plus
/// and minus at ±β with scale 1/(2βB), or +β and free, or free and −β, with 1/(βB). Computed as (d₊ − d₋)(d₊ + d₋)/2,
/// so that the squares of large drops are not subtracted. States (B, N), sources (B, n_0).
void accumulate_half_squares(const ResistiveNetwork& network, ConstMatrixRef<double> sources,
                             ConstMatrixRef<double> plus, ConstMatrixRef<double> minus, double scale,
                             ResistiveGradient& gradient);

/// Computes the adjoint a (B, N) of C = ½|v_L − y|² at a steady state without a nudge: (∂²E/∂v²) a = ∂C/∂v on the nodes
/// that no diode holds, 0 on the others; a = lim (v₋ − v₊)/(2β c_L).
Matrix<double> resistive_adjoint(const ResistiveNetwork& network, const ResistiveState& state,
                                 ConstMatrixRef<double> target);

/// Adds gradient += −scale · Σ_samples ⟨w, ∂²E/∂v∂θ⟩ for any w (B, N) at any voltages v (B, N): of a conductance
///     −scale · c_l Σ d_ij (A_{l−1} w_{l−1,i} − w_lj),  w_0 = 0
/// With the adjoint a at the steady state this is the exact gradient of Σ C (scale 1) or of the batch mean (1/B).
void accumulate_mixed(const ResistiveNetwork& network, ConstMatrixRef<double> sources, ConstMatrixRef<double> v,
                      ConstMatrixRef<double> w, double scale, ResistiveGradient& gradient);

}  // namespace nudge::test
