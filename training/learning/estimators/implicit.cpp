// SPDX-License-Identifier: Apache-2.0
#include "training/learning/estimators/adjoint_estimators.hpp"

#include <cmath>

#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/steady/krylov.hpp"

namespace nudge {

template <class S>
void ImplicitEstimator<S>::solve_dense(Linearization<S>& at, const Matrix<S>& moving) {
  const Index rows = cost_gradient_.rows();
  const Index cols = cost_gradient_.cols();
  const Index n = rows * cols;
  if (n > most_dense_unknowns) {
    throw UserError("implicit_dense: tokens * channels = " + std::to_string(n) + " (must be <= " +
                    std::to_string(most_dense_unknowns) + "; use implicit, which solves iteratively)");
  }
  Matrix<double> transposed(n, n);
  Matrix<S> unit = Matrix<S>::Zero(rows, cols);
  Matrix<S> column(rows, cols);
  for (Index i = 0; i < n; ++i) {
    unit.data()[i] = S(1);
    at.vjp(unit, column);
    unit.data()[i] = S(0);
    transposed.col(i) = Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, 1>>(column.data(), n).template cast<double>();
    if (moving.size() > 0 && moving.data()[i] == S(0)) transposed(i, i) = 1;  // held: a = 0
  }
  const Eigen::VectorXd right =
      -Eigen::Map<const Eigen::Matrix<S, Eigen::Dynamic, 1>>(cost_gradient_.data(), n).template cast<double>();
  const Eigen::VectorXd a = LuFactors<double>(transposed).solve(right);
  Eigen::Map<Eigen::Matrix<S, Eigen::Dynamic, 1>>(this->adjoint_.data(), n) = a.template cast<S>();
}

template <class S>
void ImplicitEstimator<S>::solve_gmres(Linearization<S>& at, SequenceReport& report) {
  GmresOptions options;
  options.tolerance = options_.adjoint_tolerance;
  options.max_iterations = options_.adjoint_iterations;
  const GmresResult result = adjoint_solve<S>(at, cost_gradient_, this->adjoint_, options);
  report.nudged = result.status;
  report.nudged_residual = result.residual;
  report.cost_in_forces += result.applications;
}

template <class S>
void ImplicitEstimator<S>::solve_direct(Example<S>& example, SequenceReport& report) {
  Direct<S>* direct = example.dynamics->direct();
  NUDGE_EXPECT(direct != nullptr);  // needs::solves_itself
  report.nudged = direct->solve_transposed(cost_gradient_, this->adjoint_).status;
  report.cost_in_forces += 1;
}

template <class S>
SequenceReport ImplicitEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  compute_derivatives(example);
  Linearization<S>& at = free_.run(example, options_.free, report);
  example.dynamics->begin_reads(ReadClass::stored);
  const Matrix<S>& z = *example.state;
  cost_gradient_.resize(z.rows(), z.cols());
  this->adjoint_.setZero(z.rows(), z.cols());
  example.cost->gradient(z, cost_gradient_);
  const Matrix<S> moving = moving_units<S>(*example.dynamics, at, z);
  if (moving.size() > 0) cost_gradient_.array() *= moving.array();
  if (solver_ == AdjointSolver::direct) {
    solve_direct(example, report);
  } else if (solver_ == AdjointSolver::dense) {
    solve_dense(at, moving);
    report.cost_in_forces += static_cast<double>(z.size());
  } else {
    solve_gmres(at, report);
  }
  if (!std::isfinite(static_cast<double>(this->adjoint_.norm()))) report.nudged = Status::diverged;
  this->point_ = z;
  if (this->leave_out(static_cast<double>(cost_gradient_.norm()), report)) return report;
  // A nudged phase runs away where there is no equilibrium; a solver answers all the same. Where the step to the nearest
  // zero of F, ‖J⁻¹F‖ ≲ gain ‖F‖, is longer than the state itself, there is none to differentiate.
  report.left_out = this->leaves_out() && report.adjoint.gain * report.free.residual > 1;
  if (report.left_out) return report;
  at.accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(z, example.weight, *example.sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(ImplicitEstimator)

}  // namespace nudge
