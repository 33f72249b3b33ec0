// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/errors.hpp"
#include "sim/base/matrix.hpp"

namespace nudge {

/// What acts on some columns of a state while the system is solved (Direct).
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
  bool settled = false;  ///< the state that it settles to, even where states are read before
};

/// What became of a direct solution.
struct DirectResult {
  Status status =
      Status::converged;  ///< stalled: Newton's method found no solution, or a matrix was singular; z is as it was
  int iterations = 0;     ///< factorisations, of all rows
  double time = 0;        ///< that a phase takes, in τ; 0: none is known
};

/// The optional power of a Dynamics (Dynamics::direct) that solves its equations itself instead of relaxing.
template <class S>
class Direct {
 public:
  virtual ~Direct() = default;

  /// Moves z (rows, cols) to where F(z) and the load, which acts on the system's outputs alone, are 0: by Newton's method from z on. A
  /// system that is read before it has settled moves z to where it then is.
  virtual DirectResult solve(MatrixRef<S> z, const DirectLoad<S>& load) = 0;

  /// a (rows, cols) with Jᵀ a = −c at the point that was linearised last; c is 0 but on the outputs.
  virtual DirectResult solve_transposed(ConstMatrixRef<S> c, MatrixRef<S> a) = 0;

  /// a (rows, cols) = −Re (D⁻¹J − iω)⁻¹ D⁻¹ c at that point, D of Inertia: what answers a small force c cos ωt in phase, ω in 1/τ; not a
  /// number where that is singular.
  virtual DirectResult respond(ConstMatrixRef<S> c, double omega, MatrixRef<S> a) = 0;
};

}  // namespace nudge
