// SPDX-License-Identifier: Apache-2.0
#include "sim/base/decompositions.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

namespace nudge {
namespace {

/// Q diag(d) Q with the reflection Q = 1 − 2 v vᵀ/|v|²: symmetric, its eigenvalues are d.
Eigen::MatrixXd with_eigenvalues(const Eigen::VectorXd& d) {
  Eigen::VectorXd v(d.size());
  for (Index i = 0; i < v.size(); ++i) v[i] = 1 + 0.3 * std::sin(3.0 * static_cast<double>(i));
  const Eigen::MatrixXd q = Eigen::MatrixXd::Identity(d.size(), d.size()) - 2 / v.squaredNorm() * (v * v.transpose());
  return q * d.asDiagonal() * q;
}

}  // namespace

// Roundings of some n eps of the largest entry, times the condition 10 where something is divided.
constexpr double rounding = 1e-13;

TEST_CASE("a symmetric matrix of known eigenvalues: determinant, solution and inverse", "[sim]") {
  const Eigen::VectorXd d = Eigen::VectorXd::LinSpaced(7, 1, 10);
  const Eigen::MatrixXd a = with_eigenvalues(d);
  CHECK(std::abs(semidefinite_log_determinant(a) - d.array().log().sum()) < rounding);
  const Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(7, -2, 3);
  CHECK((semidefinite_solve(a, a * x) - x).norm() < 10 * rounding);
  CHECK((inverse(a) - with_eigenvalues(d.cwiseInverse())).norm() < 10 * rounding);
}

TEST_CASE("a covariance without an inverse has a root", "[sim]") {
  Eigen::VectorXd d = Eigen::VectorXd::Zero(6);
  d[1] = 4;
  d[4] = 0.5;
  const Eigen::MatrixXd c = with_eigenvalues(d);
  const Eigen::MatrixXd root = semidefinite_root(c);
  // Pivots of ±eps beside 4 that rounding leaves count as 0 or as their roots, whose squares are as small.
  CHECK((root * root.transpose() - c).norm() < rounding);
  CHECK(semidefinite_root(Eigen::MatrixXd::Zero(3, 3)).norm() == 0);
  CHECK(semidefinite_solve(c, Eigen::VectorXd::Zero(6)).norm() == 0);
}

}  // namespace nudge
