// SPDX-License-Identifier: Apache-2.0
#include "tests/support/dense.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>

#include "sim/base/decompositions.hpp"

namespace nudge::test {

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a) {
  return solution(a, Eigen::MatrixXd::Identity(a.rows(), a.cols()));
}

Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return LuFactors<double>(Matrix<double>(a)).solve(b);
}

Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> solver(a.rows(), a.cols());
  solver.setThreshold(threshold);
  solver.compute(a);
  return solver.solve(b);
}

// The real matrix [Re −Im; Im Re] has the singular values of Re + i Im, each twice.
double eigenvector_condition(const Eigen::MatrixXd& a) {
  const Eigen::MatrixXcd vectors = eigenpairs(a).vectors;
  Eigen::MatrixXd pairs(2 * a.rows(), 2 * a.rows());
  pairs << vectors.real(), -vectors.imag(), vectors.imag(), vectors.real();
  const Eigen::VectorXd sigma = singular_values(pairs);
  return sigma(0) / sigma(sigma.size() - 1);
}

Eigen::VectorXd singular_values(const Eigen::MatrixXd& a) {
  return Eigen::JacobiSVD<Eigen::MatrixXd>(a).singularValues();
}

}  // namespace nudge::test
