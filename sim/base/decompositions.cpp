// SPDX-License-Identifier: Apache-2.0
#include "sim/base/decompositions.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace nudge {

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(a, false).eigenvalues();
}

EigenPairs eigenpairs(const Eigen::MatrixXd& a) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

SymmetricPairs symmetric_eigenpairs(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

void CholeskyFactor::compute(const Matrix<double>& a) { llt_.compute(a); }

void CholeskyFactor::solve_in_place(MatrixRef<double> b) const { llt_.solveInPlace(b); }

Eigen::VectorXd semidefinite_solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) { return a.ldlt().solve(b); }

double semidefinite_log_determinant(const Eigen::MatrixXd& a) { return a.ldlt().vectorD().array().log().sum(); }

Eigen::MatrixXd semidefinite_root(const Eigen::MatrixXd& a) {
  const Eigen::LDLT<Eigen::MatrixXd> parts(a);
  Eigen::MatrixXd root = parts.matrixL();
  root = root * parts.vectorD().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return parts.transpositionsP().transpose() * root;
}

Eigen::MatrixXd inverse(const Eigen::MatrixXd& a) { return a.inverse(); }

Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& a) {
  return a.householderQr().householderQ() * Eigen::MatrixXd::Identity(a.rows(), a.cols());
}

void leave_triangle(Eigen::Ref<Eigen::MatrixXd> a) { const Eigen::HouseholderQR<Eigen::Ref<Eigen::MatrixXd>> qr(a); }

template <class S>
Eigen::Matrix<S, Eigen::Dynamic, 1> least_squares(
    const Eigen::Ref<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>& a,
    const Eigen::Matrix<S, Eigen::Dynamic, 1>& b) {
  return a.colPivHouseholderQr().solve(b);
}

template <class S>
void LuFactors<S>::compute(const Matrix<S>& a) {
  lu_.compute(a);
}

template <class S>
Matrix<S> LuFactors<S>::solve(const Matrix<S>& b) const {
  return lu_.solve(b);
}

template <class S>
Matrix<S> LuFactors<S>::solve_transposed(const Matrix<S>& b) const {
  return lu_.transpose().solve(b);
}

#define NUDGE_DECOMPOSITIONS(S)                                                  \
  template Eigen::Matrix<S, Eigen::Dynamic, 1> least_squares<S>(                 \
      const Eigen::Ref<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>&, \
      const Eigen::Matrix<S, Eigen::Dynamic, 1>&);                               \
  template class LuFactors<S>;
NUDGE_BOTH_PRECISIONS(NUDGE_DECOMPOSITIONS)

}  // namespace nudge
