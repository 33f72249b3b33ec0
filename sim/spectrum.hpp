// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "sim/dynamics.hpp"

namespace nudge {

struct SpectrumOptions {
  int count = 4;                ///< eigenvalues wanted: those with the largest real part  [≥ 1]
  int krylov = 40;              ///< dimension of the Krylov space; at least 2·count + 8 is used
  int max_applications = 4000;  ///< limit on the products with the Jacobian
  double tolerance = 1e-8;  ///< a pair has converged when ‖J x − λ x‖ ≤ tolerance · max |λ|; at least 100 eps(S)
  std::uint64_t seed = 0;  ///< seed of the start vector
};

struct Eigenvalue {
  std::complex<double> value;  ///< in units of 1/τ
  double residual = 0;         ///< ‖J x − λ x‖ for ‖x‖ = 1
  bool converged = false;
};

/// Leading eigenvalues of J, largest real part first, both of a complex pair. abscissa is the largest real part. The
/// equilibrium is stable if abscissa < 0; −1/abscissa is then its slowest settling time in units of τ.
struct Spectrum {
  std::vector<Eigenvalue> leading;
  double abscissa = 0;
  bool converged = false;  ///< true if all of `leading` have converged
  int applications = 0;    ///< jvps used; `leading` is empty when one of them was not finite
};

/// Arnoldi iteration on the jvp, J (rows·cols, rows·cols), with thick restarts on the wanted invariant subspace (Krylov–Schur:
/// Stewart, SIAM J. Matrix Anal. Appl. 23 (2001) 601). A Krylov space does not change when J is shifted, so the right-most
/// eigenvalues come out as easily as the largest ones. In a box only the units that can move count (moving_units; empty: all).
template <class S>
Spectrum leading_eigenvalues(Linearization<S>& linearization, Index rows, Index cols,
                             const SpectrumOptions& options = {}, const Matrix<S>& moving = {});

/// Asymmetry ‖Jv − Jᵀv‖ / ‖Jv‖, averaged over seeded standard normal probes v (rows, cols): 0 when the force has an energy.
template <class S>
double asymmetry(Linearization<S>& linearization, Index rows, Index cols, int probes = 8, std::uint64_t seed = 0);

/// Behaviour near the point where the leading pair λ = α ± iω of J at an equilibrium crosses the imaginary axis.
struct HopfForm {
  bool found = false;    ///< the leading eigenvalues are a complex pair, and the state is small enough to look
  double growth = 0;     ///< α, 1/τ
  double frequency = 0;  ///< ω, radians per τ
  /// First Lyapunov coefficient l₁ at the Hopf point that is reached by making all leaks smaller by −α, with z* kept. The
  /// amplitude ρ of z = z* + ρ (q e^{iθ} + c.c.) follows dρ/dt = α ρ + ω l₁ ρ³, |q| = 1. Below 0 the oscillation that starts
  /// past the margin is small, ρ² = −α/(ω l₁) (supercritical). Above 0 there is none nearby and the state leaves (subcritical).
  double lyapunov = 0;
};

/// Limit on the unknowns of hopf_normal_form(), which takes all eigenvalues and eigenvectors of J and a dense solve of twice the size.
inline constexpr Index hopf_limit = 512;

/// Normal form of a Hopf point, with A = J − α, A q = iω q, Aᵀp = −iω p, ⟨q, q⟩ = ⟨p, q⟩ = 1, p orthogonal to all other eigenvectors:
///     l₁ = Re [⟨p, C(q, q, q̄)⟩ − 2 ⟨p, B(q, A⁻¹ B(q, q̄))⟩ + ⟨p, B(q̄, (2iω − A)⁻¹ B(q, q))⟩]/2ω
/// (Kuznetsov, Elements of Applied Bifurcation Theory, equation 5.62). B and C are the second and third derivatives of F. They come
/// from central differences of J v of step 1e-3: exact to 1e-6 of the derivatives two orders higher. `moving`: mask of a system in a
/// box (moving_units); its other units stand still.
HopfForm hopf_normal_form(Dynamics<double>& dynamics, const Matrix<double>& z, const Matrix<double>& moving = {});

}  // namespace nudge
