// SPDX-License-Identifier: Apache-2.0
#include "tests/support/dense.hpp"

#include <Eigen/Dense>

namespace nudge::test {

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a) { return a.inverse(); }

Eigen::VectorXd solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.fullPivLu().solve(b); }

Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(a.rows(), a.cols());
  solver.setThreshold(threshold);
  solver.compute(a);
  return solver.solve(b);
}

Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& a) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(a, false).eigenvalues();
}

double eigenvector_condition(const Eigen::MatrixXd& a) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  const Eigen::JacobiSVD<Eigen::MatrixXcd> svd(solver.eigenvectors());
  return svd.singularValues()(0) / svd.singularValues()(a.rows() - 1);
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(a).singularValues();
}

Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& a) { return a.householderQr().householderQ(); }

}  // namespace nudge::test
