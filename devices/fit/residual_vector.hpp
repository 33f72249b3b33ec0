// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace nudge {

/// The types that Eigen::LevenbergMarquardt asks of residuals r(x) and their Jacobian, both of any size. A class of its own gives inputs(),
/// values(), operator()(x, r) and df(x, J), each returning 0.
struct ResidualVector {
  using Scalar = double;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
};

}  // namespace nudge
