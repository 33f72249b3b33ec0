// SPDX-License-Identifier: Apache-2.0
// What tests ask of small dense matrices beyond sim/base/decompositions.hpp, compiled once: each takes a test that calls Eigen's own 5
// to 15 s to build.
#pragma once

#include <Eigen/Core>

namespace nudge::test {

/// Computes A⁻¹, and X of A X = B, by LU with partial pivoting.
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& a);
Eigen::MatrixXd solution(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Computes the x of least norm among those of least |A x − b|; singular values below `threshold` of the largest count
/// as 0.
Eigen::VectorXd least_norm_solution(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, double threshold);

/// Condition κ₂ of the matrix of the eigenvectors of a square matrix, each of length 1.
double eigenvector_condition(const Eigen::MatrixXd& a);

/// Singular values, falling.
Eigen::VectorXd singular_values(const Eigen::MatrixXd& a);

}  // namespace nudge::test
