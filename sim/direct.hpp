// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// Load on some columns of a state while the system is solved (Direct).
template <class S>
struct DirectLoad {
  enum class Kind {
    none,    ///< nothing
    driven,  ///< the force value − load z beside the system's own: a current source with its conductance
    held,    ///< the state is `value` there, whatever it takes
  };
  Kind kind = Kind::none;
  Columns columns = {};
  Matrix<S> value;  ///< (rows, columns.count)
  S load = 0;
  bool settled = false;  ///< solve for the settled state, even where states are read before they have settled
};

/// Outcome of a direct solution.
struct DirectResult {
  Status status =
      Status::converged;  ///< stalled: Newton's method found no solution, or a matrix was singular; z is as it was
  int iterations = 0;     ///< factorisations, of all rows
  double time = 0;        ///< time that a phase takes, in τ; 0: unknown
};

/// Optional capability of a Dynamics (Capabilities::direct) that solves its equations itself instead of relaxing.
template <class S>
class Direct {
 public:
  virtual ~Direct() = default;

  /// Moves z (rows, cols) to where F(z) plus the load is 0, by Newton's method from z on. The load acts on the system's
  /// outputs alone. A system that is read before it has settled moves z to its state at that time.
  virtual DirectResult solve(MatrixRef<S> z, const DirectLoad<S>& load) = 0;

  /// Computes a (rows, cols) with Jᵀ a = −c at the point that was linearised last; c is 0 but on the outputs.
  virtual DirectResult solve_transposed(ConstMatrixRef<S> c, MatrixRef<S> a) = 0;

  /// Computes a (rows, cols) = −Re (D⁻¹J − iω)⁻¹ D⁻¹ c at the point that was linearised last, with D of Inertia. It is
  /// the in-phase response to a small force c cos ωt, ω in 1/τ. Not a number where the matrix is singular.
  virtual DirectResult respond(ConstMatrixRef<S> c, double omega, MatrixRef<S> a) = 0;
};

}  // namespace nudge
