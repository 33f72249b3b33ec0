// SPDX-License-Identifier: Apache-2.0
#include "sim/settle.hpp"
#include "tests/support/catch.hpp"

#include <limits>

#include "sim/base/errors.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

template <class S>
SettleResult run(Dynamics<S>& dynamics, Matrix<S>& z, const SettleOptions& options) {
  SettleWorkspace<S> scratch;
  return settle<S>(dynamics, z, options, scratch);
}

Vec<double> ones(Index n) { return Vec<double>::Ones(n); }

/// F = −rate (z − 1) in every component.
SmallDynamics<double> decay_system(double rate) {
  return linear_system<double>(2, 3, -rate * Dense<double>::Identity(6, 6), ones(6));
}

/// The normal form of a Hopf bifurcation around (2, 0): every orbit goes to the unit circle about that point and runs
/// along it at rate 1. Off the origin, so that ‖F‖/‖z‖ varies along the orbit.
SmallDynamics<double> limit_cycle() {
  return {1, 2, [](const Vec<double>& z) -> Vec<double> {
            const double x = z(0) - 2;
            const double y = z(1);
            const double grow = 1 - x * x - y * y;
            return Vec<double>{{grow * x - y, grow * y + x}};
          }};
}

}  // namespace

TEST_CASE("Euler is exactly z + step F, max_steps times", "[settle]") {
  auto system = decay_system(0.7);
  Matrix<double> z = Matrix<double>::Zero(2, 3);
  const SettleOptions options{.step = 0.3, .max_steps = 11};
  const SettleResult result = run<double>(system, z, options);
  double x = 0;
  for (int k = 0; k < 11; ++k) x = x + 0.3 * (-0.7 * (x - 1));
  // The same operations up to a fused multiply-add: a few roundings per step.
  CHECK((z.array() - x).abs().maxCoeff() <= 11 * 4 * std::numeric_limits<double>::epsilon());
  CHECK(result.steps == 11);
  CHECK(result.force_evaluations == 12);
  CHECK(system.evaluations == 12);
  CHECK(result.time == Approx(3.3));
  CHECK(system.last_reading.relaxation.interval == 0.3);
  // Here F falls by 1 − 0.21 per step and z rises towards 1, so r falls at least as fast.
  CHECK(result.residual == Approx(0.7 * (1 - x) / x).epsilon(1e-12));
  Matrix<double> again = Matrix<double>::Zero(2, 3);
  CHECK(run<double>(system, again, {.step = 0.3, .max_steps = 11, .final_residual = false}).force_evaluations == 11);
  CHECK(again == z);
}

TEST_CASE("A converging system stops at its tolerance and reports its decay", "[settle]") {
  for (const SettleSolver solver : settle_solvers()) {
    CAPTURE(to_string(solver));
    auto system = decay_system(1);
    Matrix<double> z = Matrix<double>::Constant(2, 3, 0.5);
    const SettleOptions options{.solver = solver, .step = 0.3, .max_steps = 400, .tolerance = 1e-9};
    const SettleResult result = run<double>(system, z, options);
    CHECK(result.status == Status::converged);
    CHECK(result.residual <= 1e-9);
    CHECK(result.steps < 400);
    // F = 1 − z: ‖F‖ ≤ 1e-9 ‖z‖ is an error of 1e-9 per component.
    CHECK((z.array() - 1).abs().maxCoeff() <= 1.1e-9);
    if (solver == SettleSolver::euler) CHECK(result.decay == Approx(0.7).epsilon(1e-3));
    if (solver == SettleSolver::newton_gmres) CHECK(result.time == 0);
  }
}

TEST_CASE("A slow system runs out of steps", "[settle]") {
  auto system = decay_system(0.1);
  Matrix<double> z = Matrix<double>::Zero(2, 3);
  const SettleResult result = run<double>(system, z, {.step = 0.3, .max_steps = 40, .tolerance = 1e-9});
  // ρ = 0.97: 16 steps change the residual by a factor 0.6, neither flat nor growing.
  CHECK(result.status == Status::max_steps);
  CHECK(result.steps == 40);
}

TEST_CASE("A very slow system is stalled", "[settle]") {
  auto system = decay_system(1e-4);
  Matrix<double> z = Matrix<double>::Constant(2, 3, 5.0);
  // r falls by 3e-5 per step, 5e-4 over the window of 16: less than 1 %.
  CHECK(run<double>(system, z, {.step = 0.3, .max_steps = 40, .tolerance = 1e-9}).status == Status::stalled);
}

TEST_CASE("The rounding floor in float is stalled", "[settle]") {
  const Dense<float> w = random_dense<float>(24, 24, 3) * 0.1F;
  const Vec<float> root = random_dense<float>(24, 1, 4);
  auto system = tanh_network<float>(4, 6, w, root);
  Matrix<float> z = Matrix<float>::Zero(4, 6);
  SettleOptions options{.step = 0.5, .max_steps = 200, .tolerance = 1e-12};
  const SettleResult result = run<float>(system, z, options);
  // Below eps = 6e-8 rounding rules; the iteration ends at a fixed point or in a cycle of the last bits.
  CHECK(result.residual < 1e-6);
  CHECK((result.status == Status::stalled || result.status == Status::oscillating || result.residual == 0));
  options.solver = SettleSolver::newton_gmres;
  z.setZero();
  const SettleResult newton = run<float>(system, z, options);
  // Where rounding ends the line search it has arrived, though not within the tolerance: 20 roundings of 6e-8 are 1.2e-6.
  CHECK(newton.status == Status::converged);
  CHECK(newton.residual <= 1.2e-6);
  CHECK(newton.steps < 30);
}

TEST_CASE("An unstable system diverges and leaves a finite state", "[settle]") {
  for (const SettleSolver solver : {SettleSolver::euler, SettleSolver::rk4, SettleSolver::dopri5}) {
    CAPTURE(to_string(solver));
    // dz/dt = 2 z grows by the ratio 1e4 within ln(1e4)/2 = 4.6 τ.
    auto system = linear_system<double>(2, 3, 2 * Dense<double>::Identity(6, 6), Vec<double>::Zero(6));
    Matrix<double> z = Matrix<double>::Ones(2, 3);
    const SettleResult result = run<double>(system, z, {.solver = solver, .step = 0.3, .max_steps = 400});
    CHECK(result.status == Status::diverged);
    CHECK(result.steps < 400);
    CHECK(z.allFinite());
    CHECK(z.norm() > 1e4);
  }
  for (const SettleSolver solver : settle_solvers()) {
    CAPTURE(to_string(solver));
    // Finite-time blow-up, and a linearisation that is NaN.
    SmallDynamics<float> blow_up(
        1, 2, [](const Vec<float>& z) -> Vec<float> { return 1e3F * z.array().cube().exp(); },
        [](const Vec<float>&) -> Dense<float> { return Dense<float>::Constant(2, 2, NAN); });
    Matrix<float> z = Matrix<float>::Ones(1, 2);
    const SettleResult result = run<float>(blow_up, z, {.solver = solver, .step = 0.3, .max_steps = 50});
    CHECK(z.allFinite());
    // The Jacobian of NaN gives Newton no direction; dopri5 shrinks its step before the blow-up as long as it can.
    if (solver == SettleSolver::newton_gmres) {
      CHECK(result.status == Status::stalled);
    } else if (solver == SettleSolver::dopri5) {
      CHECK((result.status != Status::converged && std::isfinite(result.residual)));
    } else {
      CHECK(result.status == Status::diverged);
    }
  }
}

TEMPLATE_TEST_CASE("newton_gmres has one status for a zero, near or far, and one for none", "[settle]", float, double) {
  using S = TestType;
  // Zeros at 1, 100, 1e5 and 1e6, the last two beyond 1e4 times the start.
  for (const double slope : {1.0, 1e-2, 1e-5, 1e-6}) {
    for (const double tolerance : {0.0, 1e-5}) {
      CAPTURE(slope, tolerance);
      const auto k = static_cast<S>(slope);
      SmallDynamics<S> far(
          1, 1, [k](const Vec<S>& z) { return Vec<S>(1 - k * z.array()); },
          [k](const Vec<S>&) { return Dense<S>(Dense<S>::Constant(1, 1, -k)); });
      Matrix<S> z = Matrix<S>::Constant(1, 1, S(0.3));
      const SettleOptions options{.solver = SettleSolver::newton_gmres, .max_steps = 50, .tolerance = tolerance};
      const SettleResult result = run<S>(far, z, options);
      CHECK(result.status == Status::converged);
      const auto at = static_cast<double>(z(0, 0));
      CHECK(std::abs(at * slope - 1) <= std::max(tolerance, 2.4e-6) * at);  // |F| <= max(tolerance, 20 roundings) |z|
      // The residual is that of the state returned, F being 1 less 1: two roundings.
      const double rounding = 2 * static_cast<double>(std::numeric_limits<S>::epsilon());
      CHECK(result.residual == Approx(std::abs(1 - slope * at) / at).margin(rounding / at));
    }
  }
  // 1/(1 + |z|) has no zero, and Newton's steps double z.
  SmallDynamics<S> none(
      1, 1, [](const Vec<S>& z) { return Vec<S>(1 / (1 + z.array().abs())); },
      [](const Vec<S>& z) {
        const S a = 1 + std::abs(z(0));
        return Dense<S>(Dense<S>::Constant(1, 1, -1 / (a * a)));
      });
  Matrix<S> z = Matrix<S>::Constant(1, 1, S(0.3));
  const SettleResult result = run<S>(none, z, {.solver = SettleSolver::newton_gmres, .max_steps = 50});
  CHECK(result.status == Status::diverged);
  const auto end = static_cast<double>(z(0, 0));
  CHECK(end > 1e4);
  CHECK(result.residual == Approx(1 / (1 + end) / end).epsilon(1e-5));
}

TEST_CASE("A limit cycle is oscillating", "[settle]") {
  auto system = limit_cycle();
  for (const SettleSolver solver : {SettleSolver::euler, SettleSolver::rk4, SettleSolver::dopri5}) {
    CAPTURE(to_string(solver));
    Matrix<double> z(1, 2);
    z << 2.5, 0.1;
    // The window must see about a whole period, 2π τ: ‖F‖ is 1 and ‖z‖ runs from 1 to 3 along the orbit.
    const double step = solver == SettleSolver::euler ? 0.1 : 0.3;
    SettleOptions options{.solver = solver,
                          .step = step,
                          .max_steps = 300,
                          .tolerance = 1e-3,
                          .window = solver == SettleSolver::euler ? 120 : 84,
                          .ode_relative_error = 1e-4};
    CHECK(run<double>(system, z, options).status == Status::oscillating);
  }
}

TEST_CASE("average_last returns the mean of the last states", "[settle]") {
  for (const SettleSolver solver : {SettleSolver::euler, SettleSolver::rk4}) {
    CAPTURE(to_string(solver));
    auto system = decay_system(1);
    Matrix<double> sum = Matrix<double>::Zero(2, 3);
    for (int steps : {6, 7, 8}) {
      Matrix<double> z = Matrix<double>::Zero(2, 3);
      run<double>(system, z, {.solver = solver, .max_steps = steps});
      sum += z / 3;
    }
    Matrix<double> z = Matrix<double>::Zero(2, 3);
    const SettleResult result = run<double>(system, z, {.solver = solver, .max_steps = 8, .average_last = 3});
    CHECK((z - sum).norm() <= 1e-14);  // a few roundings of numbers below 1
    CHECK(result.residual == Approx((1 - sum(0, 0)) / sum(0, 0)).epsilon(1e-12));
  }
}

TEST_CASE("Settling works on a block of rows in place and reuses its buffers", "[settle]") {
  auto system = decay_system(1);
  Matrix<double> batch = Matrix<double>::Zero(6, 3);
  SettleWorkspace<double> scratch;
  settle<double>(system, batch.middleRows(2, 2), {}, scratch);
  const double* buffer = scratch.force.data();
  const double* residuals = scratch.residuals.data();
  settle<double>(system, batch.middleRows(4, 2), {}, scratch);
  CHECK(scratch.force.data() == buffer);
  CHECK(scratch.residuals.data() == residuals);
  CHECK(batch.topRows(2).isZero(0));
  CHECK(batch.middleRows(2, 2) == batch.bottomRows(2));
  CHECK(batch(2, 0) > 0.9);
}

TEST_CASE("Wrong options are the user's errors", "[settle]") {
  auto system = decay_system(1);
  Matrix<double> z = Matrix<double>::Zero(2, 3);
  CHECK_THROWS_WITH(settle_solver("eulr"),
                    Catch::Contains("eulr") && Catch::Contains("did you mean") && Catch::Contains("euler"));
  CHECK_THROWS_WITH(settle_solver("bogus"), Catch::Contains("newton_gmres"));
  for (const SettleSolver solver : settle_solvers()) CHECK(settle_solver(to_string(solver)) == solver);
  CHECK_THROWS_AS(run<double>(system, z, {.step = -1}), UserError);
  CHECK_THROWS_AS(run<double>(system, z, {.max_steps = -1}), UserError);
  CHECK_THROWS_AS(run<double>(system, z, {.window = 1}), UserError);
  CHECK_THROWS_AS(run<double>(system, z, {.average_last = 0}), UserError);
}

TEMPLATE_TEST_CASE("Accelerated solvers find the root of a nonlinear system", "[settle]", float, double) {
  using S = TestType;
  const Index n = 48;
  // Spectral radius near 0.9·√(1/n)·√n: Jacobian −I + tanh' W is far from normal, ‖W‖ near 1.8.
  const Dense<S> w = random_dense<S>(n, n, 1) * static_cast<S>(0.9 / std::sqrt(48.0));
  const Vec<S> root = random_dense<S>(n, 1, 2);
  auto system = tanh_network<S>(6, 8, w, root);
  const double eps = static_cast<double>(std::numeric_limits<S>::epsilon());
  const double tolerance = 50 * eps;
  for (const SettleSolver solver : {SettleSolver::anderson, SettleSolver::newton_gmres}) {
    CAPTURE(to_string(solver));
    Matrix<S> z = Matrix<S>::Zero(6, 8);
    SettleOptions options{.solver = solver, .step = 0.5, .max_steps = 400, .tolerance = tolerance, .memory = 20};
    const SettleResult fast = run<S>(system, z, options);
    CHECK(fast.status == Status::converged);
    const Eigen::Map<const Vec<S>> flat(z.data(), n);
    // error ≤ ‖J⁻¹‖ ‖F‖ to first order.
    const double inverse_norm = inverse_of(tanh_jacobian<S>(w, root).template cast<double>()).norm();
    CHECK(static_cast<double>((flat - root).norm()) <= 2 * inverse_norm * tolerance * static_cast<double>(root.norm()));
    z.setZero();
    options.solver = SettleSolver::euler;
    const SettleResult plain = run<S>(system, z, options);
    INFO(to_string(solver) << " " << fast.steps << " steps, euler " << plain.steps);
    CHECK(fast.steps < plain.steps);
    // On a linear problem Anderson is as fast as GMRES(20): the double run, long enough to be linear, must show it.
    if (std::is_same_v<S, double> && solver == SettleSolver::anderson) CHECK(2 * fast.steps <= plain.steps);
    if (solver == SettleSolver::newton_gmres) CHECK(fast.steps <= 12);
  }
}
