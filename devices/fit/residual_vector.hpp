// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/base/matrix.hpp"

namespace nudge {

/// Step of forward differences in every input, and threads that share the inputs (parallel_for).
struct ForwardDifferences {
  double step;
  int threads = 1;
};

/// Residual vector r(x); r and x of any size.
class ResidualVector {
 public:
  virtual ~ResidualVector() = default;
  virtual Index inputs() const = 0;
  virtual Index values() const = 0;
  virtual void residuals(const Eigen::VectorXd& x, Eigen::VectorXd& r) const = 0;
  virtual ForwardDifferences differences() const = 0;
  /// Jacobian dr/dx, values × inputs.
  void jacobian(const Eigen::VectorXd& x, Eigen::MatrixXd& j) const;
};

/// End of a descent: after so many evaluations, or at so small a relative change of the sum of squares or of x.
struct DescentEnd {
  int evaluations;
  double squares, x;
};

/// Lowers |r(x)|² from x, in place, by the method of Levenberg and Marquardt.
void descend(const ResidualVector& residuals, const DescentEnd& end, Eigen::VectorXd& x);

}  // namespace nudge
