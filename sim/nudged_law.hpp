// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/dynamics.hpp"

namespace nudge {

/// The forces that act in a nudged phase, of a system linearised at z₀, with v = z − z₀ and J_n of the non-conservative terms:
///     corrected:   f = F(z) − (J_n − J_nᵀ) v        the founding note's AEP: its Jacobian at z₀ is Jᵀ
///     transposed:  f = F_c(z) + J_nᵀ v              the same Jacobian at z₀, a larger basin; without the constant F_n(z₀),
///                                                   which anchoring removes
/// This is the one place where they follow from force, jvp and vjp: any Dynamics is right under every estimator. Fused
/// evaluations (Linearization::corrected_force, transposed_force) take their place where a system has them.
template <class S>
class NudgedLaw {
 public:
  void corrected(Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0, ConstMatrixRef<S> z,
                 MatrixRef<S> f) {
    if (at.corrected_force(z, f)) return;
    displacement(z0, z);
    dynamics.nearby_force(z, f, Part::all);
    at.jvp(v_, part_, Part::nonconservative);
    f -= part_;
    at.vjp(v_, part_, Part::nonconservative);
    f += part_;
  }

  void transposed(Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0, ConstMatrixRef<S> z,
                  MatrixRef<S> f) {
    if (at.transposed_force(z, f)) return;
    displacement(z0, z);
    dynamics.nearby_force(z, f, Part::conservative);
    at.vjp(v_, part_, Part::nonconservative);
    f += part_;
  }

  /// The transposed law of one node, into its columns of f.
  void node_transposed(Dynamics<S>& dynamics, Linearization<S>& at, ConstMatrixRef<S> z0, ConstMatrixRef<S> z,
                       MatrixRef<S> f, std::size_t node) {
    if (!at.node_transposed_force(z, f, node)) transposed(dynamics, at, z0, z, f);
  }

 private:
  void displacement(ConstMatrixRef<S> z0, ConstMatrixRef<S> z) {
    v_.resize(z.rows(), z.cols());
    part_.resize(z.rows(), z.cols());
    for (Index row = 0; row < z.rows(); row += z0.rows()) {
      v_.middleRows(row, z0.rows()) = z.middleRows(row, z0.rows()) - z0;
    }
  }

  Matrix<S> v_, part_;
};

}  // namespace nudge
