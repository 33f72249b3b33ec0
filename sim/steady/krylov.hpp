// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <functional>

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// A state flattened row by row.
template <class S>
using Vector = Eigen::Matrix<S, Eigen::Dynamic, 1>;

/// A Krylov basis: one orthonormal vector per column.
template <class S>
using Basis = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;

/// Linear operator y = A x over flattened states; y has its size already.
template <class S>
using LinearOperator = std::function<void(const Vector<S>& x, Vector<S>& y)>;

/// The flattened state as a (rows, cols) matrix.
template <class S>
Eigen::Map<Matrix<S>> as_state(Vector<S>& x, Index rows, Index cols) {
  return {x.data(), rows, cols};
}
template <class S>
Eigen::Map<const Matrix<S>> as_state(const Vector<S>& x, Index rows, Index cols) {
  return {x.data(), rows, cols};
}

/// Removes from w its parts along the first `count` columns of the basis by modified Gram–Schmidt and adds them to h. A
/// second pass follows when the first cancelled. A pass that keeps less than 1/√2 of the norm needs another, and two
/// are enough (Daniel, Gragg, Kaufman & Stewart, Math. Comp. 30 (1976) 772). Returns the norm of the rest of w.
template <class S>
double orthogonalise(const Basis<S>& basis, Index count, Vector<S>& w, Eigen::Ref<Eigen::VectorXd> h) {
  double norm = static_cast<double>(w.norm());
  for (int pass = 0; pass < 3; ++pass) {
    const double before = norm;
    for (Index i = 0; i < count; ++i) {
      const S part = basis.col(i).dot(w);
      w -= part * basis.col(i);
      h(i) += static_cast<double>(part);
    }
    norm = static_cast<double>(w.norm());
    if (norm > 0.7071 * before) break;
  }
  return norm;
}

struct GmresOptions {
  double tolerance = 1e-10;  ///< on ‖b − A x‖ / ‖b‖
  int krylov = 50;           ///< basis vectors before a restart
  int max_iterations = 500;  ///< applications of A inside the cycles, restarts not counted
};

/// Outcome of gmres(). converged: residual ≤ tolerance. stalled: a cycle lowered it by less than 1 %. max_steps:
/// max_iterations reached. diverged: a non-finite number appeared, and x is the last finite iterate.
struct GmresResult {
  Status status = Status::max_steps;
  int iterations = 0;
  int applications = 0;  ///< number of products with A, restarts included
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
