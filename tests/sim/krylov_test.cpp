// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "sim/base/decompositions.hpp"
#include "sim/steady/krylov.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

template <class S>
LinearOperator<S> as_operator(const Dense<S>& a) {
  return [&a](const Vector<S>& x, Vector<S>& y) { y = a * x; };
}

template <class S>
Dense<S> well_posed(Index n, std::uint64_t seed) {
  return Dense<S>::Identity(n, n) * S(2) + random_dense<S>(n, n, seed) * static_cast<S>(1 / std::sqrt(double(n)));
}

}  // namespace

TEMPLATE_TEST_CASE("GMRES agrees with dense LU", "[gmres]", float, double) {
  using S = TestType;
  const Index n = 48;
  const Dense<S> a = well_posed<S>(n, 5);
  const Vector<S> b = random_dense<S>(n, 1, 6);
  const Vector<S> exact = LuFactors<S>(a).solve(b);
  const double tolerance = 20 * static_cast<double>(std::numeric_limits<S>::epsilon());
  const double condition = static_cast<double>(a.norm()) * inverse_of(a.template cast<double>()).norm();
  for (const int krylov : {48, 12}) {  // without and with restarts
    Vector<S> x = Vector<S>::Zero(n);
    const GmresResult result = gmres<S>(as_operator(a), b, x, {.tolerance = tolerance, .krylov = krylov});
    CHECK(result.status == Status::converged);
    CHECK(result.residual <= tolerance);
    // Two solutions with relative residuals of at most `tolerance` differ by the condition number times that.
    CHECK(static_cast<double>((x - exact).norm()) <= 2 * condition * tolerance * static_cast<double>(exact.norm()));
  }
}

TEST_CASE("GMRES ends in as many steps as the matrix has distinct eigenvalues", "[gmres]") {
  Dense<double> a = Dense<double>::Identity(30, 30);
  a.diagonal().tail(10).setConstant(3);
  const Vector<double> b = random_dense<double>(30, 1, 7);
  Vector<double> x = Vector<double>::Zero(30);
  const GmresResult result = gmres<double>(as_operator(a), b, x, {.tolerance = 1e-13});
  CHECK(result.status == Status::converged);
  CHECK(result.iterations == 2);
}

TEST_CASE("GMRES says when it cannot", "[gmres]") {
  const Vector<double> b = random_dense<double>(20, 1, 8);
  Vector<double> x = Vector<double>::Zero(20);
  Dense<double> singular = Dense<double>::Identity(20, 20);
  singular(3, 3) = 0;
  const GmresResult stalled = gmres<double>(as_operator(singular), b, x, {});
  CHECK(stalled.status == Status::stalled);
  // Nothing can remove the component outside the range.
  CHECK(stalled.residual >= (1 - 1e-12) * std::abs(b(3)) / b.norm());
  const Dense<double> slow = well_posed<double>(20, 9);
  x.setZero();
  CHECK(gmres<double>(as_operator(slow), b, x, {.krylov = 3, .max_iterations = 3}).status == Status::max_steps);
  const Dense<double> broken = Dense<double>::Constant(20, 20, std::numeric_limits<double>::quiet_NaN());
  x.setZero();
  CHECK(gmres<double>(as_operator(broken), b, x, {}).status == Status::diverged);
  CHECK(x.isZero(0));
  x.setOnes();
  CHECK(gmres<double>(as_operator(slow), Vector<double>::Zero(20), x, {}).status == Status::converged);
  CHECK(x.isZero(0));
}

TEMPLATE_TEST_CASE("The adjoint solve is the transposed dense solve", "[gmres]", float, double) {
  using S = TestType;
  const Dense<S> j = -well_posed<S>(24, 10);
  auto system = linear_system<S>(4, 6, j, Vec<S>::Zero(24));
  const Matrix<S> g = random_dense<S>(4, 6, 11);
  Matrix<S> a(4, 6);
  const double tolerance = 20 * static_cast<double>(std::numeric_limits<S>::epsilon());
  const GmresResult result = adjoint_solve<S>(system.linearize(Matrix<S>::Zero(4, 6)), g, a, {.tolerance = tolerance});
  CHECK(result.status == Status::converged);
  const Vec<S> exact = -LuFactors<S>(j).solve_transposed(Eigen::Map<const Vec<S>>(g.data(), 24));
  const double condition = static_cast<double>(j.norm()) * inverse_of(j.template cast<double>()).norm();
  CHECK(static_cast<double>((Eigen::Map<const Vec<S>>(a.data(), 24) - exact).norm()) <=
        2 * condition * tolerance * static_cast<double>(exact.norm()));
}
