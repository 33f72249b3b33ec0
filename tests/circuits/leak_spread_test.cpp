// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/node_terms.hpp"
#include "tests/support/catch.hpp"

#include "circuits/circuit_dynamics.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr Index kRows = 3, kCols = 5;

Circuit<double> clamped_node() { return {{Node{"state", {0, kCols}, 1.0, true}}, kCols, {}, Damping{}}; }

Matrix<double> deviations() { return drawn_deviations<double>(0.05, kCols, 3); }

struct Bound {
  explicit Bound(NudgedDrive drive) : circuit(clamped_node()) {
    circuit.add(std::make_unique<LeakSpread<double>>(deviations(), 1));
    circuit.set_nudged_drive(drive);
    dynamics.emplace(circuit, kRows, 2);
    dynamics->bind(input, ReadContext{});
  }
  Circuit<double> circuit;
  std::optional<CircuitDynamics<double>> dynamics;
  Matrix<double> input = random_matrix<double>(kRows, kCols, 1);
};

}  // namespace

TEST_CASE("mismatched clamps: force, equilibrium, derivatives and energy are those of (1 + delta) z", "[circuit]") {
  Bound bound(NudgedDrive::state);
  const Matrix<double> z = random_matrix<double>(kRows, kCols, 2), v = random_matrix<double>(kRows, kCols, 3);
  const Eigen::Array<double, 1, Eigen::Dynamic> leak = 1 + deviations().row(0).array();
  Matrix<double> f(kRows, kCols);
  bound.dynamics->force(z, f);
  const Matrix<double> expected = bound.input - (z.array().rowwise() * leak).matrix();
  CHECK((f - expected).norm() <= 1e-15 * kCols * z.norm());  // a few roundings each
  const Matrix<double> settled = (bound.input.array().rowwise() / leak).matrix();
  bound.dynamics->force(settled, f);
  CHECK(f.norm() <= 1e-15 * kCols * z.norm());
  Linearization<double>& at = bound.dynamics->linearize(z);
  Matrix<double> out(kRows, kCols);
  at.jvp(v, out);
  CHECK((out + (v.array().rowwise() * leak).matrix()).norm() <= 1e-15 * kCols * v.norm());
  at.vjp(v, f);
  CHECK((out - f).norm() <= 1e-15 * kCols * v.norm());  // diagonal: its own transpose
  // −∂E/∂z = F, and E is quadratic: its central difference is exact but for rounding over the step, 1e-16/1e-4.
  const double h = 1e-4;
  const double slope = (*bound.dynamics->energy(z + h * v) - *bound.dynamics->energy(z - h * v)) / (2 * h);
  CHECK(-slope == Approx(expected.cwiseProduct(v).sum()).epsilon(1e-9));
}

TEST_CASE("mismatched clamps: a law that is driven by the difference is that of the state", "[circuit]") {
  const Matrix<double> z0 = random_matrix<double>(kRows, kCols, 2), z = random_matrix<double>(2 * kRows, kCols, 4);
  Matrix<double> laws[2] = {Matrix<double>(2 * kRows, kCols), Matrix<double>(2 * kRows, kCols)};
  int k = 0;
  for (const NudgedDrive drive : {NudgedDrive::state, NudgedDrive::difference}) {
    Bound bound(drive);
    REQUIRE(bound.dynamics->linearize(z0).law(NudgedForm::transposed, z, laws[k++]));
  }
  CHECK((laws[0] - laws[1]).norm() <= 1e-14 * laws[0].norm());
}

TEST_CASE("mismatched clamps are those of a seed, and no clamp loses more than half of itself", "[circuit]") {
  CHECK(drawn_deviations<double>(0.01, 40, 1) == drawn_deviations<double>(0.01, 40, 1));
  CHECK(drawn_deviations<double>(0.01, 40, 1) != drawn_deviations<double>(0.01, 40, 2));
  const Matrix<double> wide = drawn_deviations<double>(5.0, 1000, 1);
  CHECK(wide.minCoeff() == -0.5);
  CHECK(wide.maxCoeff() == 0.5);
  // The mean square of 10⁴ normal numbers: five standard deviations are 5 √(2/N) = 7 %.
  const Matrix<double> many = drawn_deviations<double>(0.01, 10000, 1);
  CHECK(many.squaredNorm() / 1e4 == Approx(1e-4).epsilon(0.07));
}
