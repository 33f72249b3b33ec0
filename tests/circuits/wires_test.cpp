// SPDX-License-Identifier: Apache-2.0
// Wire resistance: closed forms, the nodal reference, reciprocity, limits, and published attenuation.
#include <Eigen/LU>

#include <array>
#include <cmath>

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/wires/solvers.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/circuits/nodal_solver.hpp"
#include "tests/support/catch.hpp"

namespace nudge {
namespace {

/// Conductances uniform in [1, 100] uS.
Matrix<double> conductances(Index rows, Index cols, std::uint64_t seed) {
  Matrix<double> g(rows, cols);
  fill_uniform<double>({seed, Purpose::probe, 0}, 0, 0,
                       std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return (1e-6 + 99e-6 * g.array()).matrix();
}

Matrix<double> voltages(Index rows, std::uint64_t seed) {
  Matrix<double> v(1, rows);
  fill_normal<double>({seed, Purpose::probe, 1}, 0, 0, std::span<double>(v.data(), static_cast<std::size_t>(rows)));
  return 0.2 * v;
}

double relative(const Matrix<double>& a, const Matrix<double>& b) { return (a - b).norm() / b.norm(); }

/// The array seen from the other side: columns driven where they were sensed, rows sensed where they were driven.
Matrix<double> seen_backward(const Matrix<double>& g) { return g.transpose().rowwise().reverse().colwise().reverse(); }

}  // namespace

TEST_CASE("wires: one device in series with its two wires", "[wires]") {
  const double g = 50e-6;
  WireSpec spec{100, 200, 30, 70, LineEnds::one, LineEnds::one};
  const auto solution = LineSolver(Matrix<double>::Constant(1, 1, g), spec).solve(Matrix<double>::Constant(1, 1, 0.3));
  // Ohm's law; 1e-12 is some ulps of a chain of four operations.
  CHECK(solution.currents_A(0, 0) == Approx(0.3 / (100 + 30 + 1 / g + 200 + 70)).epsilon(1e-12));
}

TEST_CASE("wires: the line solver agrees with nodal analysis", "[wires]") {
  const auto ends = GENERATE(LineEnds::one, LineEnds::both);
  const auto ohm = GENERATE(0.1, 1.0, 50.0);
  const Matrix<double> g = conductances(24, 17, 3);
  const Matrix<double> v = voltages(24, 4);
  const WireSpec spec{ohm, 1.7 * ohm, 5, 11, ends, ends};
  const auto solution = LineSolver(g, spec).solve(v, 1e-12);
  REQUIRE(solution.converged);
  // The iteration stops at 1e-12 in the norm of C⁻¹; the condition of the eliminated system, at most 1 + R G N² ≈ 30 here,
  // carries that to the currents. Cholesky's own rounding is smaller.
  CHECK(relative(solution.currents_A, NodalSolver(g, spec).solve(v)) < 1e-10);
}

TEST_CASE("wires: without resistance the effective matrix is the conductance matrix", "[wires]") {
  const Matrix<double> g = conductances(9, 13, 5);
  CHECK(LineSolver(g, WireSpec{}).effective_matrix() == g);
  // With R → 0 the deviation is first order in R: halving R halves it (ratio 2 within 1 %, R G N ≈ 1e-5 is the next order).
  const auto deviation = [&g](double ohm) {
    return relative(LineSolver(g, WireSpec{ohm, ohm}).effective_matrix(1e-14), g);
  };
  CHECK(deviation(1e-2) / deviation(5e-3) == Approx(2).epsilon(0.01));
  // One ideal wire: the limit of a small resistance, again to first order (1e-7 ohm of 1e4).
  const Matrix<double> half = LineSolver(g, WireSpec{2, 0}).effective_matrix();
  CHECK(relative(LineSolver(g, WireSpec{2, 1e-7}).effective_matrix(1e-13), half) < 1e-9);
  const Matrix<double> other = LineSolver(g, WireSpec{0, 2}).effective_matrix();
  CHECK(relative(LineSolver(g, WireSpec{1e-7, 2}).effective_matrix(1e-13), other) < 1e-9);
}

// A wire without resistance is one node behind its driver: with all rows at V it is at V/(1 + R_d G_i), G_i the sum of its devices.
TEST_CASE("wires: drivers and amplifiers without wires", "[wires]") {
  const Matrix<double> g = conductances(9, 13, 5);
  const auto ends = GENERATE(LineEnds::one, LineEnds::both);
  const double parallel = ends == LineEnds::both ? 2 : 1;  // terminals of a line
  const Eigen::ArrayXd at_rows = (1 + 1e3 / parallel * g.array().rowwise().sum()).inverse();
  const Matrix<double> driven = g.array().colwise() * at_rows;
  // Rounding of sums over 13 devices.
  CHECK(relative(LineSolver(g, WireSpec{0, 0, 1e3, 0, ends, ends}).effective_matrix(), driven) < 1e-14);
  const Eigen::ArrayXXd share = (1 + 1e3 / parallel * g.array().colwise().sum()).inverse();
  const Matrix<double> sensed = g.array().rowwise() * share.row(0);
  CHECK(relative(LineSolver(g, WireSpec{0, 0, 0, 1e3, ends, ends}).effective_matrix(), sensed) < 1e-14);
  // Both: nodal analysis of N + M nodes, L (v, u) = (V/R_d, 0).
  const Index n = 9, m = 13;
  Matrix<double> laplacian = Matrix<double>::Zero(n + m, n + m);
  laplacian.topRightCorner(n, m) = -g;
  laplacian.bottomLeftCorner(m, n) = -g.transpose();
  laplacian.diagonal() << g.rowwise().sum().array() + parallel / 1e3,
      g.colwise().sum().transpose().array() + parallel / 2e3;
  const Matrix<double> inverse = laplacian.inverse();
  const Matrix<double> both = inverse.topRightCorner(n, m) * (parallel / 1e3) * (parallel / 2e3);
  // The iteration stops at 1e-14 of a system of condition below 10.
  CHECK(relative(LineSolver(g, WireSpec{0, 0, 1e3, 2e3, ends, ends}).effective_matrix(1e-14), both) < 1e-12);
  // A short wire changes currents by R N/R_d of them at most, and by no rounding, however short it is.
  for (const double ohm : {1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 1e-16, 1e-30}) {
    CAPTURE(ohm);
    const WireSpec spec{ohm, ohm, 1e3, 2e3, ends, ends};
    CHECK(relative(LineSolver(g, spec).effective_matrix(1e-14), both) < 1e-12 + 13 * ohm / 1e3);
    const NonlinearSolution newton =
        NonlinearSolver(g, CurrentCurve{}, spec).solve(Matrix<double>::Constant(1, n, 0.2));
    CHECK(newton.status == Status::converged);
    CHECK(relative(newton.currents_A, 0.2 * both.colwise().sum()) < 1e-10 + 13 * ohm / 1e3);
  }
}

TEST_CASE("wires: reading backward through the same ends gives the transposed matrix", "[wires]") {
  const Matrix<double> g = conductances(31, 20, 6);
  const WireSpec forward{1.5, 0.5, 20, 40, LineEnds::one, LineEnds::one};
  const WireSpec backward{0.5, 1.5, 40, 20, LineEnds::one, LineEnds::one};  // columns are the driven wires now
  const Matrix<double> m = LineSolver(g, forward).effective_matrix(1e-13);
  const Matrix<double> back = LineSolver(seen_backward(g), backward).effective_matrix(1e-13);
  CHECK(relative(seen_backward(back), m) < 1e-11);  // two solves of 1e-13 times the condition (below 30)
}

TEST_CASE("wires: attenuation of uniform random arrays at 1 ohm as published", "[wires]") {
  // Output over ideal, mean, for uniform 1–100 uS at 1 ohm per cell: 0.966 (32), 0.875 (64), 0.651 (128), from an independent
  // sparse-Cholesky run with other random conductances. The mean over 1024 (32) devices has a standard error of 0.018 of G,
  // which moves 1 − output by 2 %: 0.001 at 32, below 0.003 at 64 and 128; rounding of the table adds 0.0005.
  const auto [n, expected, tolerance] =
      GENERATE(table<Index, double, double>({{32, 0.966, 0.003}, {64, 0.875, 0.004}, {128, 0.651, 0.004}}));
  const Matrix<double> g = conductances(n, n, 7);
  const WireSpec spec{1, 1};
  const Matrix<double> out = LineSolver(g, spec).solve(Matrix<double>::Ones(1, n)).currents_A;
  CHECK(out.sum() / g.sum() == Approx(expected).margin(tolerance));
}

TEST_CASE("wires: the effective matrix has equal bits for any number of threads", "[wires]") {
  const LineSolver solver(conductances(20, 20, 8), WireSpec{1, 1});
  const Matrix<double> one = solver.effective_matrix(1e-10, 1);
  CHECK(one == solver.effective_matrix(1e-10, 2));
  CHECK(one == solver.effective_matrix(1e-10, 3));
}

TEST_CASE("wires: tiles have wires of their own and add their currents", "[wires]") {
  const Matrix<double> g = conductances(10, 7, 10);
  const WireSpec spec{3, 2};
  const Matrix<double> tiled = effective_conductance(g, spec, {4, 5}, 1);
  // Tiles are independent circuits; both sides stop at 1e-8 or better.
  for (const auto& [i, j, rows, cols] : {std::array<Index, 4>{0, 0, 4, 5}, {4, 5, 4, 2}, {8, 0, 2, 5}}) {
    const Matrix<double> alone = LineSolver(g.block(i, j, rows, cols), spec).effective_matrix(1e-12);
    CHECK(relative(tiled.block(i, j, rows, cols), alone) < 1e-7);
  }
  CHECK(worst_ir_drop(g, spec, {4, 5}) < worst_ir_drop(g, spec, {}));
}

TEST_CASE("wires: a crossbar reads through its wires, both ways through one matrix", "[wires]") {
  CrossbarSpec spec;
  spec.device.model = "ideal";
  Matrix<double> w = voltages(12 * 9, 11);
  w.resize(12, 9);
  const Crossbar<double> ideal(spec, w, 0, 1);
  spec.wires = {2, 2};
  const Crossbar<double> wired(spec, w, 0, 1);
  const Matrix<double> plus = effective_conductance(wired.plus().conductance(), spec.wires, {}, 1);
  const Matrix<double> minus = effective_conductance(wired.minus().conductance(), spec.wires, {}, 1);
  CHECK(relative(wired.weights(), (plus - minus) / wired.siemens_per_weight()) < 1e-14);  // the same operations
  CHECK(relative(ideal.weights(), w) < 1e-12);
  CHECK(relative(wired.weights(), w) > 1e-4);
  ReadContext read;
  const Matrix<double> x = voltages(12, 12);
  const Matrix<double> y = voltages(9, 13);
  Matrix<double> forward(1, 9);
  Matrix<double> backward(1, 12);
  wired.forward(x, forward, wired.all_columns(), Store::assign, read);
  wired.transposed(y, backward, wired.all_columns(), Store::assign, read);
  // ⟨y, x W⟩ = ⟨y Wᵀ, x⟩: 108 products of size below 0.1 each in double, 1e-15 absolute.
  CHECK((y * forward.transpose())(0, 0) == Approx((backward * x.transpose())(0, 0)).epsilon(1e-11));
}

TEST_CASE("wires: bad input", "[wires]") {
  const Matrix<double> g = conductances(3, 3, 9);
  CHECK_THROWS_AS(LineSolver(g, (WireSpec{-1, 1})), UserError);
  CHECK_THROWS_AS(NodalSolver(g, (WireSpec{0, 1})), UserError);
  Matrix<double> bad = g;
  bad(1, 2) = std::nan("");
  CHECK_THROWS_WITH(LineSolver(bad, (WireSpec{1, 1})), Catch::Contains("device (1, 2)"));
}

}  // namespace nudge
