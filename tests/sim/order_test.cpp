// SPDX-License-Identifier: Apache-2.0
#include <boost/numeric/odeint/stepper/runge_kutta_dopri5.hpp>

#include "sim/base/errors.hpp"
#include "sim/ode/trajectory.hpp"
#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// A nonlinear system with a closed form: dr/dt = r (1 − r²) turning at rate 3, so
/// r(t)² = 1 / (1 + (1/r₀² − 1) e^{−2t}).
SmallDynamics<double> spiral() {
  return {1, 2, [](const Vec<double>& z) -> Vec<double> {
            const double grow = 1 - z.squaredNorm();
            return Vec<double>{{grow * z(0) - 3 * z(1), grow * z(1) + 3 * z(0)}};
          }};
}

Vec<double> spiral_exact(double t) {
  const double r = 1 / std::sqrt(1 + (1 / 0.25 - 1) * std::exp(-2 * t));
  return Vec<double>{{r * std::cos(3 * t), r * std::sin(3 * t)}};
}

Matrix<double> start() {
  Matrix<double> z(1, 2);
  z << 0.5, 0;
  return z;
}

}  // namespace

TEST_CASE("Fixed-step solvers have their orders", "[order]") {
  // Errors over four halvings; the next term of the expansion changes a slope by about (last/first error ratio of the
  // coarsest step) — below 0.15 for the steps chosen, which start where the error is below a few per cent.
  const auto [solver, expected, first] =
      GENERATE(table<SettleSolver, double, int>({{SettleSolver::euler, 1.0, 200}, {SettleSolver::rk4, 4.0, 10}}));
  CAPTURE(to_string(solver));
  std::vector<double> steps;
  std::vector<double> errors;
  for (int n = first; n <= 16 * first; n *= 2) {
    auto system = spiral();
    Matrix<double> z = start();
    SettleWorkspace<double> scratch;
    const SettleResult result = settle<double>(system, z, {.solver = solver, .step = 1.0 / n, .max_steps = n}, scratch);
    CHECK(result.time == Approx(1).epsilon(1e-12));
    CHECK(result.force_evaluations == (solver == SettleSolver::euler ? n : 4 * n) + 1);
    steps.push_back(1.0 / n);
    errors.push_back((Vec<double>(z.transpose()) - spiral_exact(1)).norm());
  }
  CHECK(order(steps, errors) == Approx(expected).margin(0.15));
}

TEST_CASE("dopri5 has order 5", "[order]") {
  std::vector<double> steps;
  std::vector<double> errors;
  // The order-6 term is large here (slopes 5.9, 5.5, 5.2, 5.04 from n = 8 on): start where it has faded to 0.2; rounding
  // (1e-15) stays 500 times below the last error.
  for (int n = 48; n <= 192; n *= 2) {
    std::vector<double> x = {0.5, 0};
    boost::numeric::odeint::runge_kutta_dopri5<std::vector<double>> stepper;
    auto system = spiral();
    const auto rhs = [&](const std::vector<double>& in, std::vector<double>& out, double) {
      system.force(Eigen::Map<const Matrix<double>>(in.data(), 1, 2), Eigen::Map<Matrix<double>>(out.data(), 1, 2));
    };
    for (int k = 0; k < n; ++k) stepper.do_step(rhs, x, k / double(n), 1.0 / n);
    steps.push_back(1.0 / n);
    errors.push_back((Eigen::Map<const Vec<double>>(x.data(), 2) - spiral_exact(1)).norm());
  }
  CHECK(order(steps, errors) == Approx(5).margin(0.2));
}

TEST_CASE("The adaptive solver follows its error bound", "[order]") {
  double last = 1;
  for (const double bound : {1e-4, 1e-6, 1e-8, 1e-10}) {
    CAPTURE(bound);
    auto system = spiral();
    const auto path =
        integrate<double>(system, start(), {.duration_s = 1, .step_s = 0.1, .samples = 4, .relative_error = bound});
    CHECK(path.status == Status::converged);
    REQUIRE(path.states.size() == 5);
    double worst = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(path.times_s[i] == Approx(0.25 * double(i)).margin(1e-15));
      worst = std::max(worst, (Vec<double>(path.states[i].transpose()) - spiral_exact(path.times_s[i])).norm());
    }
    // Local errors of at most 2.5 bounds each (|x| + dt |F| < 1.5), about ten steps, amplified by at most e^t.
    CHECK(worst <= 2.5 * 30 * std::exp(1.0) * bound);
    CHECK(worst < last);
    last = worst;
  }
}

TEST_CASE("A trajectory is in seconds", "[order]") {
  for (const std::string stepper : {"rk4", "dopri5"}) {
    CAPTURE(stepper);
    auto system = linear_system<float>(2, 2, -Dense<float>::Identity(4, 4), Vec<float>::Ones(4));
    const double tau = 50e-9;
    const auto path = integrate<float>(
        system, Matrix<float>::Zero(2, 2),
        {.stepper = stepper, .tau_s = tau, .duration_s = 200e-9, .step_s = 5e-9, .samples = 8, .relative_error = 1e-6});
    REQUIRE(path.states.size() == 9);
    for (std::size_t i = 0; i < 9; ++i) {
      // An RC step response; float rounding over some 40 steps and rk4's dt⁴/120 stay below 2e-6.
      CHECK(double(path.states[i](1, 1)) == Approx(1 - std::exp(-path.times_s[i] / tau)).margin(5e-6));
    }
    CHECK(path.times_s.back() == 200e-9);
  }
  SmallDynamics<double> blow_up(1, 1, [](const Vec<double>& z) -> Vec<double> { return z.array().square(); });
  // x = 1/(1 − t) ends at t = 1.
  const auto path =
      integrate<double>(blow_up, Matrix<double>::Ones(1, 1), {.stepper = "rk4", .duration_s = 4, .step_s = 0.01});
  CHECK(path.status == Status::diverged);
  CHECK(path.times_s.back() == Approx(1).margin(0.1));
  for (const auto& z : path.states) CHECK(z.allFinite());
  CHECK_THROWS_AS(integrate<double>(blow_up, Matrix<double>::Ones(1, 1), {.stepper = "euler"}), UserError);
  CHECK_THROWS_AS(integrate<double>(blow_up, Matrix<double>::Ones(1, 1), {.tau_s = 0}), UserError);
}
