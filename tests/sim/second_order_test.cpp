// SPDX-License-Identifier: Apache-2.0
// Nodes with mass and friction (sim/mover.hpp) against closed forms.
#include <cmath>
#include <complex>

#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// F = −λ z for each eigenvalue, from the state 1.
Matrix<double> after(const Vec<double>& eigenvalues, const Motion& motion, double step, int steps) {
  const Index n = eigenvalues.size();
  auto system = linear_system<double>(1, n, -Dense<double>(eigenvalues.asDiagonal()), Vec<double>::Zero(n));
  Matrix<double> z = Matrix<double>::Ones(1, n);
  SettleWorkspace<double> scratch;
  settle<double>(system, z, {.solver = SettleSolver::second_order, .step = step, .max_steps = steps, .motion = motion},
                 scratch);
  return z;
}

int steps_to(const Vec<double>& eigenvalues, const SettleOptions& asked) {
  const Index n = eigenvalues.size();
  auto system = linear_system<double>(1, n, -Dense<double>(eigenvalues.asDiagonal()), Vec<double>::Ones(n));
  Matrix<double> z = Matrix<double>::Zero(1, n);
  SettleWorkspace<double> scratch;
  const SettleResult result = settle<double>(system, z, asked, scratch);
  CHECK(result.status == Status::converged);
  CHECK((z.array() - 1).abs().maxCoeff() < 1e-5);
  return result.steps;
}

}  // namespace

TEST_CASE("A mode with mass and friction follows its closed form, to first order in the step", "[second_order]") {
  // z = (λ₂ e^{λ₁t} − λ₁ e^{λ₂t})/(λ₂ − λ₁), λ the roots of Mλ² + Γλ + 1.7 = 0, at t = 3.
  const double stiffness = 1.7;
  for (const Motion& motion : {Motion{1, {0.5}}, Motion{2, {6}}, Motion{1, {0}}}) {
    const double gamma = motion.friction.front();
    CAPTURE(motion.mass, gamma);
    const std::complex<double> root = std::sqrt(std::complex<double>(gamma * gamma - 4 * motion.mass * stiffness));
    const std::complex<double> one = (-gamma + root) / (2 * motion.mass), two = (-gamma - root) / (2 * motion.mass);
    const double exact = ((two * std::exp(3.0 * one) - one * std::exp(3.0 * two)) / (two - one)).real();
    const auto error = [&](int steps) {
      return std::abs(after(Vec<double>::Constant(1, stiffness), motion, 3.0 / steps, steps)(0, 0) - exact);
    };
    CHECK(error(3000) < 3e-3);
    CHECK(error(3000) / error(6000) == Approx(2).epsilon(0.02));
  }
}

TEST_CASE("Steps of nodes with mass are stable as far as Motion::euler_step says", "[second_order]") {
  // z'' − (1 + k − εgλ) z' + k z = 0 has both roots within 1 iff εgλ < 2 (1 + k).
  for (const Motion& motion : {Motion{1, {0.3}}, Motion{1, {2}}, Motion{0.2, {5}}, Motion{1, {0}}}) {
    const double lambda = 3;
    CAPTURE(motion.mass, motion.friction.front());
    for (const double share : {0.98, 1.02}) {
      const double step = motion.step_like(share * 2 / lambda);
      CHECK(motion.euler_step(step) == Approx(share * 2 / lambda).epsilon(1e-12));
      const double z = std::abs(after(Vec<double>::Constant(1, lambda), motion, step, 3000)(0, 0));
      CHECK((z < 20) == (share < 1));
    }
  }
}

TEST_CASE("Symplectic Euler without friction keeps its energy for ever", "[second_order]") {
  // ½ y² + ½ λ z² − ½ ε λ y z is conserved exactly for F = −λ z: |z| stays below 1/√(1 − ε²λ/4) of its start.
  const double lambda = 2, step = 0.5;
  double most = 0;
  for (int steps = 9990; steps < 10000; ++steps) {
    most = std::max(most, std::abs(after(Vec<double>::Constant(1, lambda), Motion{1, {0}}, step, steps)(0, 0)));
  }
  CHECK(most <= 1 / std::sqrt(1 - step * step * lambda / 4) * (1 + 1e-9));
  CHECK(most > 0.5);
}

TEST_CASE("Slow modes settle by the square root of the condition number", "[second_order]") {
  // Modes of 1 to κ = 100. Euler's best step 2/(1 + κ) leaves ((κ − 1)/(κ + 1))^n; the heavy ball's best leaves about n ρ^n with
  // ρ = (√κ − 1)/(√κ + 1) (Polyak 1964): speeds kept k = ρ², εg = (1 + ρ)²/κ.
  const double kappa = 100;
  Vec<double> modes(40);
  for (Index i = 0; i < modes.size(); ++i) modes[i] = std::pow(kappa, double(i) / double(modes.size() - 1));
  const int plain = steps_to(modes, {.step = 2 / (1 + kappa), .max_steps = 20000, .tolerance = 1e-6});
  const double rho = (std::sqrt(kappa) - 1) / (std::sqrt(kappa) + 1);
  // M = 1: ε g = (1 + ρ)²/κ with g = (1 − ρ²)/Γ and Γ = −2 ln ρ/ε give ε² = −2 ln ρ (1 + ρ)²/(κ (1 − ρ²)).
  const double step = std::sqrt(-2 * std::log(rho) * (1 + rho) * (1 + rho) / (kappa * (1 - rho * rho)));
  const int heavy = steps_to(modes, {.solver = SettleSolver::second_order,
                                     .step = step,
                                     .max_steps = 20000,
                                     .tolerance = 1e-6,
                                     .motion = {1, {-2 * std::log(rho) / step}}});
  // ln(1e-6)/ln of the rates: 691 and 69 steps; the factor n of the second costs some 20 more.
  CHECK(plain > 450);
  CHECK(heavy < 110);
}

TEST_CASE("Any mass and friction end in the equilibrium of the force", "[second_order]") {
  const Index n = 6;
  const Dense<double> a = 0.3 * random_dense<double>(n, n, 4) - Dense<double>::Identity(n, n);
  const Vec<double> exact = random_dense<double>(n, 1, 5).col(0);
  for (const Motion& motion : {Motion::critical(), Motion{3, {2}}, Motion{0.1, {1}}}) {
    auto system = linear_system<double>(2, 3, a, exact);
    Matrix<double> z = Matrix<double>::Zero(2, 3);
    SettleWorkspace<double> scratch;
    const SettleResult result = settle<double>(system, z,
                                               {.solver = SettleSolver::second_order,
                                                .step = motion.step_like(0.5),
                                                .max_steps = 4000,
                                                .tolerance = 1e-12,
                                                .motion = motion},
                                               scratch);
    CHECK(result.status == Status::converged);
    CHECK((Eigen::Map<const Vec<double>>(z.data(), n) - exact).norm() < 1e-10);
  }
}

TEST_CASE("Friction is one for all nodes or one for each", "[second_order]") {
  auto system = linear_system<double>(1, 2, -Dense<double>::Identity(2, 2), Vec<double>::Zero(2));
  Matrix<double> z = Matrix<double>::Ones(1, 2);
  SettleWorkspace<double> scratch;
  const SettleOptions options{.solver = SettleSolver::second_order, .step = 0.1, .motion = {1, {1, 2, 3}}};
  CHECK_THROWS_WITH(settle<double>(system, z, options, scratch), Catch::Contains("3 values for 1 node"));
}
