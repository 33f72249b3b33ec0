// SPDX-License-Identifier: Apache-2.0
// Units and their amplifiers as one system: eigenvalues of the whole 2n × 2n matrix, and a Hopf point known exactly.
#include "sim/moving.hpp"
#include "tests/support/catch.hpp"

#include "sim/base/decompositions.hpp"
#include "sim/spectrum.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

SmallDynamics<double> leaky(Index rows, Index cols, const Dense<double>& a) {
  const Index n = rows * cols;
  return linear_system<double>(rows, cols, a - Dense<double>::Identity(n, n), Vec<double>::Zero(n));
}

Spectrum spectrum_of(Dynamics<double>& dynamics, const Motion& motion) {
  Moving all(dynamics, motion);
  Linearization<double>& at = all.linearize(all.at_rest(Matrix<double>::Zero(dynamics.rows(), dynamics.cols())));
  return leading_eigenvalues<double>(at, all.rows(), all.cols(), {.count = 2, .tolerance = 1e-10});
}

}  // namespace

TEST_CASE("eigenvalues of units in motion are those of the matrix of states and speeds", "[moving]") {
  const Index n = 12;
  const Dense<double> a = 0.4 * random_dense<double>(n, n, 5);
  auto dynamics = leaky(3, 4, a);
  for (const Motion& motion : {Motion::of_amplifiers(0.05), Motion::of_amplifiers(0.7), Motion::of_amplifiers(3.0),
                               Motion{2, {0.5}}, Motion::critical()}) {
    Eigen::MatrixXd whole = Eigen::MatrixXd::Zero(2 * n, 2 * n);
    whole.topRightCorner(n, n).setIdentity();
    whole.bottomLeftCorner(n, n) = (a - Dense<double>::Identity(n, n)) / motion.mass;
    whole.bottomRightCorner(n, n) = -motion.friction.front() * Eigen::MatrixXd::Identity(n, n) / motion.mass;
    const double exact = eigenvalues(whole).real().maxCoeff();
    // Arnoldi's space of 40 is all of it: exact but for rounding of eigenvalues of up to 1/mass = 20.
    CHECK(spectrum_of(dynamics, motion).abscissa == Approx(exact).margin(1e-9));
  }
}

TEST_CASE("what turns at w is lost to amplifiers of 1/w^2, and turns at w there", "[moving][hopf]") {
  // J = −1 ± iω: λ (1 + τ_a λ) = −1 + iω has the root λ = iν where −τ_a ν² = −1 and ν = ω, at τ_a = 1/ω².
  const double omega = 2.5;
  Dense<double> a(2, 2);
  a << 0, -omega, omega, 0;
  auto dynamics = leaky(1, 2, a);
  CHECK(spectrum_of(dynamics, {}).abscissa == Approx(-1).margin(1e-12));
  const double lost = 1 / (omega * omega);
  CHECK(spectrum_of(dynamics, Motion::of_amplifiers(0.99 * lost)).abscissa < 0);
  CHECK(spectrum_of(dynamics, Motion::of_amplifiers(1.01 * lost)).abscissa > 0);
  const Spectrum there = spectrum_of(dynamics, Motion::of_amplifiers(lost));
  CHECK(there.abscissa == Approx(0).margin(1e-12));
  CHECK(std::abs(there.leading.front().value.imag()) == Approx(omega).margin(1e-12));
  Moving all(dynamics, Motion::of_amplifiers(lost));
  const HopfForm form = hopf_normal_form(all, Matrix<double>::Zero(1, 4));
  REQUIRE(form.found);
  CHECK(form.frequency == Approx(omega).margin(1e-12));
}

TEST_CASE("the transposed product of units in motion is that of the product", "[moving]") {
  auto dynamics = leaky(2, 3, random_dense<double>(6, 6, 8));
  for (const Motion& motion : {Motion{}, Motion::of_amplifiers(0.3), Motion{2, {0.7}}}) {
    Moving all(dynamics, motion);
    Linearization<double>& at = all.linearize(all.at_rest(Matrix<double>::Zero(2, 3)));
    const Matrix<double> v = random_dense<double>(2, all.cols(), 1), u = random_dense<double>(2, all.cols(), 2);
    Matrix<double> jv(2, all.cols()), ju(2, all.cols());
    at.jvp(v, jv);
    at.vjp(u, ju);
    CHECK((u.array() * jv.array()).sum() == Approx((ju.array() * v.array()).sum()).epsilon(1e-12));
  }
}
