// SPDX-License-Identifier: Apache-2.0
// Curved devices behind wires: limits, an independent dense Newton, order of convergence, ngspice, failure.
#include <cmath>

#include "circuits/spice/exports.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

Matrix<double> conductances(Index rows, Index cols) {
  Matrix<double> g(rows, cols);
  fill_uniform<double>({5, Purpose::probe, 0}, 0, 0, std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return (1e-6 + 99e-6 * g.array()).matrix();
}

/// All 2 N M node voltages at once, a dense matrix, the equations written out node by node: shares nothing with the solver.
Matrix<double> dense_newton(const Matrix<double>& g, const CurrentCurve& curve, const WireSpec& w,
                            const Matrix<double>& volts) {
  const Index n = g.rows();
  const Index m = g.cols();
  const auto row = [&](Index i, Index j) { return i * m + j; };
  const auto column = [&](Index i, Index j) { return n * m + i * m + j; };
  Eigen::VectorXd x = Eigen::VectorXd::Zero(2 * n * m);
  for (int iteration = 0; iteration < 200; ++iteration) {
    Eigen::VectorXd r = Eigen::VectorXd::Zero(2 * n * m);
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(2 * n * m, 2 * n * m);
    const auto resistor = [&](Index a, Index b, double ohm) {
      const double i = (x(a) - x(b)) / ohm;
      r(a) += i;
      r(b) -= i;
      jacobian(a, a) += 1 / ohm;
      jacobian(b, b) += 1 / ohm;
      jacobian(a, b) -= 1 / ohm;
      jacobian(b, a) -= 1 / ohm;
    };
    const auto terminal = [&](Index a, double level, double ohm) {
      r(a) += (x(a) - level) / ohm;
      jacobian(a, a) += 1 / ohm;
    };
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < m; ++j) {
        const Index a = row(i, j);
        const Index b = column(i, j);
        const double v = x(a) - x(b);
        const double current = g(i, j) * ((curve.sinh_V > 0 ? curve.sinh_V * std::sinh(v / curve.sinh_V) : v) +
                                          curve.cubic_per_V2 * v * v * v);
        const double slope =
            g(i, j) * ((curve.sinh_V > 0 ? std::cosh(v / curve.sinh_V) : 1) + 3 * curve.cubic_per_V2 * v * v);
        r(a) += current;
        r(b) -= current;
        jacobian(a, a) += slope;
        jacobian(b, b) += slope;
        jacobian(a, b) -= slope;
        jacobian(b, a) -= slope;
        if (j + 1 < m) resistor(a, row(i, j + 1), w.row_ohm);
        if (i + 1 < n) resistor(b, column(i + 1, j), w.column_ohm);
      }
      terminal(row(i, 0), volts(0, i), w.row_ohm + w.driver_ohm);
    }
    for (Index j = 0; j < m; ++j) terminal(column(n - 1, j), 0, w.column_ohm + w.sense_ohm);
    const Eigen::VectorXd step = test::solution(jacobian, r);
    // A voltage limit instead of a line search: another way to the same, unique solution.
    x -= step * std::min(1.0, 0.1 / std::max(step.cwiseAbs().maxCoeff(), 1e-300));
    if (step.cwiseAbs().maxCoeff() < 1e-15) break;
  }
  Matrix<double> out(1, m);
  for (Index j = 0; j < m; ++j) out(0, j) = x(column(n - 1, j)) / (w.column_ohm + w.sense_ohm);
  return out;
}

}  // namespace

TEST_CASE("nonlinear: straight characteristics give the linear solver's currents, for every kind of wire",
          "[nonlinear]") {
  const Matrix<double> g = conductances(9, 6);
  const Matrix<double> v = test::random_matrix<double>(1, 9, 2, 0.2);
  for (const WireSpec& wires : {WireSpec{}, WireSpec{3, 0}, WireSpec{0, 3}, WireSpec{0, 0, 900, 0},
                                WireSpec{0, 0, 900, 800}, WireSpec{1e-13, 1e-15, 900, 800}, WireSpec{2, 3, 10, 20},
                                WireSpec{2, 3, 10, 20, LineEnds::both, LineEnds::both}}) {
    const auto solution = NonlinearSolver(g, {}, wires).solve(v);
    CHECK(solution.status == Status::converged);
    CHECK(solution.steps.size() <= 3);
    // Both solve to 1e-12 of node voltages that are not more than 100 times the voltage across a wire segment.
    CHECK(test::relative_error(solution.currents_A, LineSolver(g, wires).solve(v, 1e-13).currents_A) < 1e-10);
    // Without wires the current is that of the characteristic.
    if (!wires.ideal()) continue;
    const CurrentCurve curve{0.05, 2};
    const auto curved = NonlinearSolver(g, curve, wires).solve(v);
    Matrix<double> expected = Matrix<double>::Zero(1, 6);
    for (Index i = 0; i < 9; ++i) expected += g.row(i) * (0.05 * std::sinh(v(0, i) / 0.05) + 2 * std::pow(v(0, i), 3));
    CHECK(test::relative_error(curved.currents_A, expected) < 1e-13);
  }
}

TEST_CASE("nonlinear: an independent dense Newton finds the same currents", "[nonlinear]") {
  const Matrix<double> g = conductances(7, 5);
  const Matrix<double> v = test::random_matrix<double>(1, 7, 3, 0.3);
  const WireSpec wires{20, 30, 100, 50};
  for (const CurrentCurve& curve : {CurrentCurve{0.05, 0}, CurrentCurve{0, 30}, CurrentCurve{0.1, 5}}) {
    const auto solution = NonlinearSolver(g, curve, wires).solve(v);
    CHECK(solution.status == Status::converged);
    const Matrix<double> expected = dense_newton(g, curve, wires, v);
    // Steps below 1e-10 of the voltage leave errors of their square; rounding of node voltages of 0.3 V shows in currents
    // through 80 ohm as 0.3 · 1e-16/80 = 4e-19 A per segment, 1e-13 of microamperes, summed over a dozen segments.
    CHECK(test::relative_error(solution.currents_A, expected) < 1e-10);
    CHECK(test::relative_error(solution.currents_A, LineSolver(g, wires).solve(v).currents_A) > 0.01);
  }
}

// One row of devices behind its driver: V = v + R_d Σ G f(v), a single equation.
TEST_CASE("nonlinear: curved devices behind a driver without wires", "[nonlinear]") {
  const Matrix<double> g = conductances(1, 5);
  const CurrentCurve curve{0.05, 0};
  for (const double ohm : {0.0, 1e-14, 1e-9}) {
    const auto solution =
        NonlinearSolver(g, curve, WireSpec{ohm, 0, 1e3, 0}).solve(Matrix<double>::Constant(1, 1, 0.3));
    REQUIRE(solution.status == Status::converged);
    double low = 0, high = 0.3;
    for (int k = 0; k < 60; ++k) {
      const double v = 0.5 * (low + high);
      (v + 1e3 * g.sum() * curve.current(v) < 0.3 ? low : high) = v;
    }
    // Newton's last step is below 1e-10; 5 segments of 1e-9 Ohm change 1e3 Ohm by less.
    CHECK(test::relative_error(solution.currents_A, g * curve.current(low)) < 1e-9);
  }
}

TEST_CASE("nonlinear: Newton converges quadratically", "[nonlinear]") {
  const Matrix<double> g = conductances(24, 16);
  const Matrix<double> v = test::random_matrix<double>(1, 24, 4, 0.15);
  const auto solution = NonlinearSolver(g, {0.05, 0}, WireSpec{5, 5, 50, 50}).solve(v, 1e-14);
  CHECK(solution.status == Status::converged);
  CHECK(solution.steps.size() < 15);
  // step_{k+1} ≤ C step_k² with the C of the step before: from the first step below 0.1 to rounding at 1e-13. A method
  // of order 1 would square nothing; 2 within 20 % leaves room for the higher terms of the expansion.
  std::vector<double> tail;
  for (const double s : solution.steps) {
    if (s < 0.1 && s > 1e-12) tail.push_back(s);
  }
  REQUIRE(tail.size() >= 3);
  const std::size_t last = tail.size() - 1;
  const double order = std::log(tail[last] / tail[last - 1]) / std::log(tail[last - 1] / tail[last - 2]);
  CHECK(order > 1.6);
  CHECK(order < 2.6);
}

TEST_CASE("nonlinear: ngspice finds the same currents", "[nonlinear][spice]") {
  if (!test::ngspice_installed()) return;
  const Matrix<double> g = conductances(6, 5);
  const Matrix<double> v = test::random_matrix<double>(1, 6, 5, 0.2);
  const WireSpec wires{20, 30, 100, 50};
  const CurrentCurve curve{0.08, 3};
  const auto solution = NonlinearSolver(g, curve, wires).solve(v);
  REQUIRE(solution.status == Status::converged);
  const test::TemporaryDirectory folder;
  const std::string printed = test::run_ngspice(folder.path(), crossbar_netlist(g, wires, v, curve));
  for (Index j = 0; j < 5; ++j) {
    // ngspice stops at a relative change of 1e-9 in a quadratic iteration; its gmin of 1e-12 S is 1e-7 of the devices.
    CHECK(test::printed_current(printed, j) ==
          Approx(solution.currents_A(0, j)).margin(1e-6 * solution.currents_A.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("nonlinear: what does not converge says so", "[nonlinear]") {
  const Matrix<double> g = conductances(6, 5);
  const WireSpec wires{20, 30, 100, 50};
  const Matrix<double> v = Matrix<double>::Constant(1, 6, 0.5);
  const auto few = NonlinearSolver(g, {0.02, 0}, wires).solve(v, 1e-10, 2);
  CHECK(few.status == Status::max_steps);
  CHECK(few.steps.size() == 2);
  const auto zero = NonlinearSolver(g, {0.02, 0}, wires).solve(Matrix<double>::Zero(1, 6));
  CHECK(zero.status == Status::converged);
  CHECK(zero.currents_A.norm() == 0);
  const auto strong = NonlinearSolver(g, {0.02, 0}, wires).solve(v);  // sinh(25): halved steps find it
  CHECK(strong.status == Status::converged);
  CHECK_THROWS_WITH(NonlinearSolver(g, {-1, 0}, wires), Catch::Contains("sinh_V = -1"));
  Matrix<double> bad = g;
  bad(2, 3) = std::nan("");
  CHECK_THROWS_WITH(NonlinearSolver(bad, {0.1, 0}, wires), Catch::Contains("device (2, 3)"));
}

}  // namespace nudge
