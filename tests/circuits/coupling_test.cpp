// SPDX-License-Identifier: Apache-2.0
// Coupling of chosen reciprocity, exact and held by devices, and amplifiers of finite bandwidth around it.
#include "circuits/terms/coupling.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/digital_matrix.hpp"
#include "sim/settle.hpp"
#include "sim/spectrum.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

namespace nudge {
namespace {

/// Symmetric σ and antisymmetric ω: eigenvalues σ ± iω.
Matrix<double> rotation(double sigma, double omega) {
  Matrix<double> w(2, 2);
  w << sigma, omega, -omega, sigma;
  return w;
}

/// F(z) = x − z + z W, one independent system per row of z.
struct Network {
  Network(LinearMap<double>& map, const Matrix<double>& drive)
      : block(test::one_node_circuit<double>(
            map.inputs(), [&](auto& array) { array.template place<Coupling<double>>(map.inputs()); }, 0, map, {0, 0})),
        dynamics(block, drive.rows(), 2) {
    dynamics.bind(drive, ReadContext{});
  }

  Circuit<double> block;
  CircuitDynamics<double> dynamics;
};

struct LastGradient final : GradientSink<double> {
  Matrix<double> g;
  void accumulate(int, Columns, double scale, ConstMatrixRef<double> x, ConstMatrixRef<double> y) override {
    g = scale * x.transpose() * y;
  }
  void accumulate(int, double scale, ConstMatrixRef<double> gradient) override { g = scale * gradient; }
};

}  // namespace

TEST_CASE("coupling: gains of the symmetric and antisymmetric part", "[coupling]") {
  const Matrix<double> p = test::random_matrix<double>(5, 5, 1);
  CHECK((coupling_matrix(p, 1, 1) - p).norm() < 1e-15);
  CHECK((coupling_matrix(p, 1, -1) - p.transpose()).norm() < 1e-15);
  const Matrix<double> sym = coupling_matrix(p, 2, 0);
  CHECK((sym - sym.transpose()).norm() == 0);
  CHECK((sym - (p + p.transpose())).norm() < 1e-14);
  const Matrix<double> anti = coupling_matrix(p, 0, 3);
  CHECK((anti + anti.transpose()).norm() < 1e-14);
}

TEST_CASE("coupling: eigenvalues, equilibrium and asymmetry in closed form", "[coupling]") {
  // J = −1 + W of σ ± iω: eigenvalues σ − 1 ± iω; asymmetry ‖J − Jᵀ‖/‖J‖ = 2ω/√((1 − σ)² + ω²), the same for every v.
  for (const double gain : {0.0, 0.5, 2.0}) {
    DigitalMatrix<double> map(coupling_matrix(rotation(0.3, 0.7), 1, gain));
    Network coupling(map, Matrix<double>::Constant(1, 2, 0.4));
    Linearization<double>& at = coupling.dynamics.linearize(Matrix<double>::Zero(1, 2));
    const double omega = 0.7 * gain;
    CHECK(asymmetry(at, 1, 2) == Approx(2 * omega / std::hypot(0.7, omega)).margin(1e-12));
    SpectrumOptions options;
    options.count = 2;
    const Spectrum spectrum = leading_eigenvalues(at, 1, 2, options);
    REQUIRE(spectrum.leading.size() == 2);
    for (const auto& e : spectrum.leading) {
      CHECK(e.value.real() == Approx(-0.7).epsilon(1e-8));
      CHECK(std::abs(e.value.imag()) == Approx(omega).margin(1e-8));
    }
    Matrix<double> z = Matrix<double>::Zero(1, 2);
    SettleOptions settle_options;
    settle_options.solver = SettleSolver::newton_gmres;
    settle_options.tolerance = 1e-13;
    settle_options.max_steps = 50;
    SettleWorkspace<double> scratch;
    CHECK(settle<double>(coupling.dynamics, z, settle_options, scratch).status == Status::converged);
    const Matrix<double> expected =
        Matrix<double>::Constant(1, 2, 0.4) * test::inverse_of(Matrix<double>::Identity(2, 2) - map.weights());
    CHECK(test::relative_error(z, expected) < 1e-11);
  }
}

TEST_CASE("coupling: derivatives, gradient and corrected forces", "[coupling]") {
  DigitalMatrix<double> map(test::random_matrix<double>(6, 6, 2, 0.2));
  Network coupling(map, test::random_matrix<double>(3, 6, 3));
  const Matrix<double> z = test::random_matrix<double>(3, 6, 4);
  Linearization<double>& at = coupling.dynamics.linearize(z);
  for (const Part part : {Part::all, Part::conservative, Part::nonconservative}) {
    test::check_adjoint(at, 3, 6, part);
    const Matrix<double> v = test::random_matrix<double>(3, 6, 5);
    Matrix<double> jv(3, 6);
    at.jvp(v, jv, part);
    CHECK(test::relative_error(jv, test::central_difference<double>(coupling.dynamics, z, v, part)) <
          1e-8);  // linear: rounding
  }
  // Jacobian of both corrected forces: Jᵀ.
  const Matrix<double> v = test::random_matrix<double>(3, 6, 6);
  Matrix<double> jtv(3, 6);
  Matrix<double> at_v(3, 6);
  Matrix<double> at_0(3, 6);
  at.vjp(v, jtv);
  at.law(NudgedForm::corrected, z + v, at_v);
  at.law(NudgedForm::corrected, z, at_0);
  CHECK(test::relative_error(Matrix<double>(at_v - at_0), jtv) < 1e-12);
  at.law(NudgedForm::transposed, z + v, at_v);
  at.law(NudgedForm::transposed, z, at_0);
  CHECK(test::relative_error(Matrix<double>(at_v - at_0), jtv) < 1e-12);
  LastGradient sink;
  at.accumulate_parameter_gradient(v, 0.5, sink);
  CHECK(test::relative_error(sink.g, Matrix<double>(0.5 * z.transpose() * v)) < 1e-14);
}

TEST_CASE("coupling: devices make a reciprocal pattern non-reciprocal by their errors", "[coupling][statistics]") {
  constexpr Index n = 60;
  const Matrix<double> pattern = coupling_matrix(test::random_matrix<double>(n, n, 7, 0.05), 1, 0);
  CrossbarSpec spec;
  spec.device.programming_error = 0.01;
  Crossbar<double> array(spec, pattern, 0, 1);
  Network coupling(array, Matrix<double>::Zero(1, n));
  const double measured = asymmetry(coupling.dynamics.linearize(Matrix<double>::Zero(1, n)), 1, n, 32);
  // J = −1 + W + E, E of independent entries with standard deviation s = √2 σ W/k; for a random v of norm 1 the numerator
  // has the mean square 2 s² n, the denominator is that of J.
  const double s = std::sqrt(2.0) * 0.01 * spec.device.window_S() / array.siemens_per_weight();
  const Matrix<double> jacobian = array.weights() - Matrix<double>::Identity(n, n);
  const double expected = std::sqrt(2 * s * s * n) / (jacobian.norm() / std::sqrt(static_cast<double>(n)));
  // E is one draw: its norm has a relative standard deviation of 1/√(n²) = 2 %, the mean over 32 probes of norms with
  // relative spread 1/√(2n) adds 2 %; 4 of them together.
  CHECK(measured == Approx(expected).epsilon(0.12));
  Crossbar<double> exact(CrossbarSpec{}, pattern, 0, 1);
  Network reciprocal(exact, Matrix<double>::Zero(1, n));
  CHECK(asymmetry(reciprocal.dynamics.linearize(Matrix<double>::Zero(1, n)), 1, n) < 1e-13);
}

TEST_CASE("amplifier bandwidth: growth and the edge of stability in closed form", "[amplifier]") {
  const double sigma = 0.2;
  const double omega = 2.0;
  DigitalMatrix<double> map(rotation(sigma, omega));
  Network coupling(map, Matrix<double>::Zero(1, 2));
  const std::complex<double> mu(sigma - 1, omega);
  // λ (1 + τ_a λ) = μ, stable while τ_a ω² < 1 − σ: the edge is at τ_a = 0.2. A rotation turns on a circle, so that the
  // slow root shows in the norm alone; the fast one has died by t = 8 (e^(−8/(2 τ_a)) or less beside the slow one).
  for (const double lag : {0.05, 0.19, 0.21, 0.5}) {
    const std::complex<double> slow = (-1.0 + std::sqrt(1.0 + 4 * lag * mu)) / (2 * lag);
    SettleOptions options;
    options.step = 1e-3;
    options.motion = Motion::of_amplifiers(lag);
    SettleWorkspace<double> scratch;
    double norms[2];
    for (int k = 0; k < 2; ++k) {
      Matrix<double> z = Matrix<double>::Constant(1, 2, 1e-3);
      options.max_steps = k == 0 ? 8000 : 10000;
      settle<double>(coupling.dynamics, z, options, scratch);
      norms[k] = z.norm();
    }
    CAPTURE(lag);
    // First order in the step: ε |λ|²/2 with |λ| below 3.
    CHECK(std::log(norms[1] / norms[0]) / 2 == Approx(slow.real()).margin(0.006));
    CHECK((slow.real() < 0) == (lag * omega * omega < 1 - sigma));
  }
}

TEST_CASE("amplifier bandwidth: the same equilibrium, and the step response of one node", "[amplifier]") {
  DigitalMatrix<double> map(Matrix<double>::Zero(1, 1));
  Network node(map, Matrix<double>::Constant(1, 1, 1.0));
  SettleOptions options;
  options.step = 1e-3;
  options.max_steps = 1000;
  options.motion = Motion::of_amplifiers(0.1);
  Matrix<double> z = Matrix<double>::Zero(1, 1);
  SettleWorkspace<double> scratch;
  settle<double>(node.dynamics, z, options, scratch);
  // z'' τ_a + z' + z = 1 from rest: z = 1 + (λ₂ e^{λ₁t} − λ₁ e^{λ₂t})/(λ₁ − λ₂). First order: a step of delay, 1e-3.
  const double root = std::sqrt(1 - 4 * options.motion.mass);
  const double fast = (-1 - root) / (2 * options.motion.mass);
  const double late = (-1 + root) / (2 * options.motion.mass);
  CHECK(z(0, 0) == Approx(1 + (fast * std::exp(late) - late * std::exp(fast)) / (late - fast)).margin(2e-3));
  options.max_steps = 40000;
  settle<double>(node.dynamics, z, options, scratch);
  CHECK(z(0, 0) == Approx(1).epsilon(1e-9));
  options.solver = SettleSolver::rk4;
  CHECK_THROWS_WITH(settle<double>(node.dynamics, z, options, scratch), Catch::Contains("lag"));
  // 10 MHz of gain-bandwidth on a line of load 9 leave 1 MHz: 1/(2π · 1e6 · 25e-9).
  CircuitSpec circuit;
  circuit.amplifier_bandwidth_Hz = 1e6;
  CHECK(amplifier_lag(circuit) == Approx(6.3662).epsilon(1e-4));
}

}  // namespace nudge
