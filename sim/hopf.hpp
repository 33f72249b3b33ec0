// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/dynamics.hpp"

namespace nudge {

/// What happens where the leading pair λ = α ± iω of J at an equilibrium crosses the axis.
struct HopfForm {
  bool found = false;    ///< the leading eigenvalues are a complex pair, and the state is small enough to look
  double growth = 0;     ///< α, 1/τ
  double frequency = 0;  ///< ω, radians per τ
  /// First Lyapunov coefficient l₁ at the Hopf point that all leaks smaller by −α lead to, z* where it is: the amplitude ρ of
  /// z = z* + ρ (q e^{iθ} + c.c.) follows dρ/dt = α ρ + ω l₁ ρ³, |q| = 1. Below 0 the oscillation that starts past the margin is small,
  /// ρ² = −α/(ω l₁) (supercritical), above 0 there is none nearby and the state leaves (subcritical).
  double lyapunov = 0;
};

/// Unknowns up to which it is looked at: all eigenvalues and eigenvectors of J, one dense solve of twice the size.
inline constexpr Index hopf_limit = 512;

///     l₁ = Re [⟨p, C(q, q, q̄)⟩ − 2 ⟨p, B(q, A⁻¹ B(q, q̄))⟩ + ⟨p, B(q̄, (2iω − A)⁻¹ B(q, q))⟩]/2ω
/// (Kuznetsov, Elements of Applied Bifurcation Theory, equation 5.62) with A = J − α, A q = iω q, Aᵀp = −iω p, ⟨q, q⟩ = ⟨p, q⟩ = 1, p orthogonal to all other eigenvectors; B and C,
/// second and third derivatives of F, from central differences of J v of step 1e-3: exact to 1e-6 of the derivatives two orders higher. `moving`:
/// of a system in a box (moving_units), whose other units stand still.
HopfForm hopf_normal_form(Dynamics<double>& dynamics, const Matrix<double>& z, const Matrix<double>& moving = {});

}  // namespace nudge
