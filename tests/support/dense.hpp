// SPDX-License-Identifier: Apache-2.0
// Decompositions of small dense matrices, compiled once: each takes a test that calls Eigen's own 5 to 15 s to build.
#pragma once

#include <Eigen/Core>

namespace nudge::test {

/// A⁻¹ by LU with partial pivoting.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);

/// x of A x = b by LU with full pivoting.
Eigen::VectorXd solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// The x of least norm among those of least |A x − b|; singular values below `threshold` of the largest count as 0.
Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double threshold);

/// Eigenvalues of a square matrix, in no order; and κ₂ of the matrix of its eigenvectors.
Eigen::VectorXcd eigenvalues_of(const Eigen::MatrixXd& a);
double eigenvector_condition(const Eigen::MatrixXd& a);

/// Eigenvalues of a symmetric matrix (its lower half), rising.
Eigen::VectorXd symmetric_eigenvalues(const Eigen::MatrixXd& a);

/// Singular values, falling.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

/// The orthogonal factor of A = Q R.
Eigen::MatrixXd orthonormal_basis(const Eigen::MatrixXd& a);

}  // namespace nudge::test
