// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/residual_vector.hpp"

#include <unsupported/Eigen/NonLinearOptimization>

#include "sim/base/parallel.hpp"

namespace nudge {
namespace {

/// Adapter with the members that Eigen::LevenbergMarquardt asks of residuals.
struct Functor {
  using Scalar = double;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;

  const ResidualVector& own;

  int inputs() const { return static_cast<int>(own.inputs()); }
  int values() const { return static_cast<int>(own.values()); }
  int operator()(const Eigen::VectorXd& x, Eigen::VectorXd& r) const {
    own.residuals(x, r);
    return 0;
  }
  int df(const Eigen::VectorXd& x, Eigen::MatrixXd& j) const {
    own.jacobian(x, j);
    return 0;
  }
};

}  // namespace

void ResidualVector::jacobian(const Eigen::VectorXd& x, Eigen::MatrixXd& j) const {
  const ForwardDifferences by = differences();
  Eigen::VectorXd here(values());
  residuals(x, here);
  parallel_for(x.size(), by.threads, [&](Index k, int) {
    Eigen::VectorXd moved = x, there(values());
    moved[k] += by.step;
    residuals(moved, there);
    j.col(k) = (there - here) / by.step;
  });
}

void descend(const ResidualVector& residuals, const DescentEnd& end, Eigen::VectorXd& x) {
  Functor functor{residuals};
  Eigen::LevenbergMarquardt<Functor> solver(functor);
  solver.parameters.maxfev = end.evaluations;
  solver.parameters.ftol = end.squares;
  solver.parameters.xtol = end.x;
  solver.minimize(x);
}

}  // namespace nudge
