// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr BlockSize kMemoryOnly{5, 6, 0, 9};  // s = 0.8, c = 0.7: the leak is 1.56

double energy_by_loops(const Matrix<double>& z, const Matrix<double>& x, const Matrix<double>& w, double sc) {
  double energy = 0;
  for (Index t = 0; t < z.rows(); ++t) {
    for (Index c = 0; c < z.cols(); ++c) {
      energy += 0.5 * (z(t, c) - x(t, c)) * (z(t, c) - x(t, c)) + 0.5 * sc * z(t, c) * z(t, c);
    }
    for (Index m = 0; m < w.cols(); ++m) {
      double u = 0;
      for (Index c = 0; c < z.cols(); ++c) u += z(t, c) * w(c, m);
      if (u > 0) energy -= u * u;
    }
  }
  return energy;
}

}  // namespace

TEMPLATE_TEST_CASE("the energy is clamp, damping and minus the squared rectified overlaps", "[memory]", float, double) {
  using S = TestType;
  TinyBlock<S> tiny(kMemoryOnly);
  const Matrix<S> z = random_matrix<S>(5, 6, 21, 1.5);
  const auto wide = [](const auto& m) { return Matrix<double>(m.template cast<double>()); };
  const double exact = energy_by_loops(wide(z), wide(tiny.drive), wide(tiny.input.weights()), 0.8 * 0.7);
  // Overlaps are rounded in S (6 products); the sums run in double. Energy and its parts are of one size here.
  CHECK(tiny.dynamics.energy(z).value() ==
        Approx(exact).epsilon(20 * static_cast<double>(std::numeric_limits<S>::epsilon())));
}

TEST_CASE("the memory's force is minus the gradient of the energy", "[memory]") {
  TinyBlock<double> tiny(kMemoryOnly);
  const Matrix<double> z = random_matrix<double>(5, 6, 22, 1.5);
  constexpr double h = 1e-4;
  // Between gate flips the energy is quadratic and its central difference exact; so no gate may flip within h.
  const Matrix<double> u = z * tiny.input.weights();
  REQUIRE(u.cwiseAbs().minCoeff() > h * tiny.input.weights().cwiseAbs().maxCoeff());
  Matrix<double> f(5, 6);
  tiny.dynamics.force(z, f);
  for (Index i = 0; i < z.size(); ++i) {
    Matrix<double> moved = z;
    moved.data()[i] = z.data()[i] + h;
    const double ahead = tiny.dynamics.energy(moved).value();
    moved.data()[i] = z.data()[i] - h;
    const double behind = tiny.dynamics.energy(moved).value();
    // Rounding only: ε |E|/h = 2e-16 · 50/1e-4 = 1e-10.
    CHECK(f.data()[i] == Approx(-(ahead - behind) / (2 * h)).margin(1e-9));
  }
}

TEST_CASE("the memory's Jacobian is symmetric and what central differences give", "[memory]") {
  TinyBlock<double> tiny(kMemoryOnly);
  const Matrix<double> z = random_matrix<double>(5, 6, 23, 1.5);
  auto& at = tiny.dynamics.linearize(z);
  const Matrix<double> jacobian = dense_jacobian(at, 5, 6);
  // Entries (i, j) and (j, i) are sums of the same 9 products in another order.
  CHECK((jacobian - jacobian.transpose()).norm() < 20 * std::numeric_limits<double>::epsilon() * jacobian.norm());
  const Matrix<double> v = random_matrix<double>(5, 6, 24);
  Matrix<double> jv(5, 6), jtv(5, 6);
  at.jvp(v, jv);
  at.vjp(v, jtv);
  CHECK(relative_error(jtv, jv) < 20 * std::numeric_limits<double>::epsilon());
  constexpr double h = 1e-5;
  REQUIRE((z * tiny.input.weights()).cwiseAbs().minCoeff() > h * (v * tiny.input.weights()).cwiseAbs().maxCoeff());
  // Piecewise linear force: rounding only, ε |F|/h ~ 2e-16 · 20/1e-5/‖Jv‖.
  CHECK(relative_error(central_difference(tiny.dynamics, z, v, Part::all, h), jv) < 1e-9);
}

TEST_CASE("relu'(0) = 0", "[memory]") {
  DigitalMatrix<double> input((Matrix<double>(2, 2) << 1, 1, -1, 1).finished());
  Circuit<double> block = one_node_circuit<double>(
      2, [](auto& array) { array.template place<HopfieldMemory<double>>(2); }, 0, input, {0, 0});
  CircuitDynamics<double> dynamics(block, 1, 1);
  dynamics.bind(Matrix<double>::Zero(1, 2), ReadContext{});
  // z = (1, 1) has overlaps (0, 2): only the second memory is in the Jacobian, −1 + 2 w₂ w₂ᵀ with w₂ = (1, 1).
  const Matrix<double> jacobian = dense_jacobian(dynamics.linearize(Matrix<double>::Ones(1, 2)), 1, 2);
  CHECK((jacobian == (Matrix<double>(2, 2) << 1, 2, 2, 1).finished()));
  // At z = 0 every overlap is 0: the clamp alone.
  const Matrix<double> clamp = dense_jacobian(dynamics.linearize(Matrix<double>::Zero(1, 2)), 1, 2);
  CHECK((clamp == -Matrix<double>::Identity(2, 2)));
}

TEST_CASE("the memory's parameter gradient agrees with central differences of every weight", "[memory]") {
  TinyBlock<double> tiny(kMemoryOnly);
  const Matrix<double> z = random_matrix<double>(5, 6, 25, 1.5), a = random_matrix<double>(5, 6, 26);
  constexpr double h = 1e-5;
  REQUIRE((z * tiny.input.weights()).cwiseAbs().minCoeff() > h * z.cwiseAbs().maxCoeff());
  SummingSink<double> sink({&tiny.input});
  tiny.dynamics.linearize(z).accumulate_parameter_gradient(a, 0.5, sink);
  const auto value = [&] {
    Matrix<double> f(5, 6);
    tiny.dynamics.force(z, f);
    return 0.5 * a.cwiseProduct(f).sum();
  };
  // Quadratic in W_m between gate flips: rounding only, ε |value|/h ~ 2e-16 · 10/1e-5 per entry.
  CHECK(relative_error(sink.sums[0], difference_quotients(tiny.input, h, value)) < 1e-9);
}
