// SPDX-License-Identifier: Apache-2.0
// Decompositions of dense matrices, Eigen's own, compiled once: a source that calls one itself takes 5 to 30 s to build, under the
// sanitizers up to 100 s, and where it is compiled for size its kernels may be those that the linker takes for the whole program.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "sim/base/matrix.hpp"

namespace nudge {

/// Eigenvalues of a square matrix, in no order, conjugate pairs side by side.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& a);

/// Eigenvalues of a square matrix, in no order, conjugate pairs side by side. Column i of `vectors` is the eigenvector of
/// value i; its length is 1.
struct EigenPairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};
EigenPairs eigenpairs(const Eigen::MatrixXd& a);

/// Eigenvalues of a symmetric matrix (its lower half), rising.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a);

/// Eigenvalues of a symmetric matrix (its lower half), rising; column i of `vectors` is the eigenvector of value i, of length 1.
struct SymmetricPairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricPairs symmetric_eigenpairs(const Eigen::MatrixXd& a);

/// A = L Lᵀ of a symmetric positive definite matrix (its lower half).
class CholeskyFactor {
 public:
  void compute(const Matrix<double>& a);
  void solve_in_place(MatrixRef<double> b) const;  ///< X of A X = B in place of B

 private:
  Eigen::LLT<Matrix<double>> llt_;
};

/// Solution x of A x = b, ln det A, and a root B with B Bᵀ = A. A is symmetric (its lower half is read) and has no
/// negative eigenvalues. The method is L D Lᵀ with pivots. x is 0 along the null space of A. In B, pivots below 0 by
/// rounding count as 0.
Eigen::VectorXd semidefinite_solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);
double semidefinite_log_determinant(const Eigen::MatrixXd& a);
Eigen::MatrixXd semidefinite_root(const Eigen::MatrixXd& a);

/// A⁻¹ of a square matrix that has one.
Eigen::MatrixXd inverse(const Eigen::MatrixXd& a);

/// An orthonormal basis (m, n) of the columns of A (m, n), m >= n: Q of A = Q R by Householder reflections.
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& a);

/// Overwrites A (m, n), m >= n, by Householder reflections: its upper n rows then hold R of A = Q R above their diagonal. What is
/// below is of no use.
void leave_triangle(Eigen::Ref<Eigen::MatrixXd> a);

/// An x of least |A x − b| by the pivoted QR; columns that depend on others to min(m, n)·eps get 0.
template <class S>
Eigen::Matrix<S, Eigen::Dynamic, 1> least_squares(
    const Eigen::Ref<const Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic>>& a,
    const Eigen::Matrix<S, Eigen::Dynamic, 1>& b);

/// P A = L U with partial pivoting, of a square matrix that has an inverse.
template <class S>
class LuFactors {
 public:
  LuFactors() = default;
  explicit LuFactors(const Matrix<S>& a) { compute(a); }
  void compute(const Matrix<S>& a);

  Matrix<S> solve(const Matrix<S>& b) const;             ///< X of A X = B
  Matrix<S> solve_transposed(const Matrix<S>& b) const;  ///< X of Aᵀ X = B

 private:
  Eigen::PartialPivLU<Matrix<S>> lu_;
};

}  // namespace nudge
