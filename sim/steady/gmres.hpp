// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/status.hpp"
#include "sim/dynamics.hpp"
#include "sim/steady/krylov.hpp"

namespace nudge {

struct GmresOptions {
  double tolerance = 1e-10;  ///< on ‖b − A x‖ / ‖b‖
  int krylov = 50;           ///< basis vectors before a restart
  int max_iterations = 500;  ///< applications of A inside the cycles, restarts not counted
};

/// converged: residual ≤ tolerance. stalled: a cycle lowered it by less than 1 %. max_steps: max_iterations reached.
/// diverged: a non-finite number appeared; x is the last finite iterate.
struct GmresResult {
  Status status = Status::max_steps;
  int iterations = 0;
  int applications = 0;  ///< of A, restarts included
  double residual = 1;   ///< ‖b − A x‖ / ‖b‖, computed from its definition, not from the recursion
};

/// Solves A x = b from the given x by restarted GMRES (Saad & Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856) with
/// reorthogonalised modified Gram–Schmidt; b and x (n).
template <class S>
GmresResult gmres(const LinearOperator<S>& apply, const Vector<S>& b, Vector<S>& x, const GmresOptions& options);

/// The adjoint of a settled system: solves Jᵀ a = −g from a = 0 by driving the linearised circuit backward (vjp).
/// With g = ∂C/∂z at z*, a is the exact λ of implicit differentiation: dC/dθ = ⟨a, ∂F/∂θ⟩. g and a (rows, cols).
template <class S>
GmresResult adjoint_solve(Linearization<S>& linearization, ConstMatrixRef<S> g, MatrixRef<S> a,
                          const GmresOptions& options = {});

}  // namespace nudge
