// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <functional>

namespace nudge {

/// f(x) and its gradient.
using Objective = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct Minimum {
  double value = 0;
  double gradient_norm = 0;
  int steps = 0;
  bool converged = false;  ///< |∇f| ≤ tolerance
};

/// Minimises a smooth convex function from x on, to |∇f|₂ ≤ tolerance or until `most_steps` are done or f falls no further
/// in double precision. L-BFGS with 10 pairs (Liu and Nocedal, Math. Program. 45:503, 1989, algorithm 2.1), steps by
/// bisection to the weak Wolfe conditions, c₁ = 1e-4 and c₂ = 0.9 (Lewis and Overton, Math. Program. 141:135, 2013,
/// algorithm 2.6). Deterministic.
Minimum minimise(const Objective& objective, Eigen::VectorXd& x, double tolerance, int most_steps);

}  // namespace nudge
