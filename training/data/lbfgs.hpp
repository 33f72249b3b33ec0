// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <functional>

namespace nudge {

/// f(x) and its gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct MinimiseOptions {
  double tolerance = 0;      ///< of ½ gᵀ H g
  int most_evaluations = 0;  ///< of the objective
  /// v ← P⁻¹ v, P about the Hessian; empty: v as it is.
  std::function<void(Eigen::VectorXd& v)> precondition = {};
};

struct Minimum {
  double value = 0;
  double decrement = 0;  ///< ½ gᵀ H g, about how far `value` is above the least one
  int evaluations = 0;
  bool converged = false;  ///< decrement ≤ tolerance
};

/// Minimises a smooth convex function from x on until half its Newton decrement ½ gᵀ H g, with the inverse Hessian H that the last steps
/// show, is at most the tolerance (Boyd and Vandenberghe, Convex Optimization, 2004, section 9.5.1), or `most_evaluations` are done, or f
/// falls no further in its precision. L-BFGS with 10 pairs (Liu and Nocedal, Math. Program. 45:503, 1989, algorithm 2.1) on top of the
/// preconditioner, steps by bisection to the weak Wolfe conditions, c₁ = 1e-4 and c₂ = 0.9 (Lewis and Overton, Math. Program. 141:135, 2013,
/// algorithm 2.6). Deterministic.
Minimum minimise(const Objective& objective, Eigen::VectorXd& x, const MinimiseOptions& options);

}  // namespace nudge
