// SPDX-License-Identifier: Apache-2.0
// What devices see of a read behind wires: ladders in closed form, the nodal reference, tiles, curves; and who watches a solve.
#include <cmath>

#include "circuits/wires/solvers.hpp"
#include "circuits/wires/tiled_array.hpp"
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

/// The voltage behind j segments of R of a wire with n devices of conductance G to ground, over that of its driver: the ladder
///     v_{j+1} − 2 v_j + v_{j−1} = R G v_j,   v_0 = 1,   nothing flows on behind v_n
/// has the solution cosh((n + ½ − j) θ)/cosh((n + ½) θ) with 2 sinh(θ/2) = √(R G).
double ladder(int j, int n, double rg) {
  const double theta = 2 * std::asinh(std::sqrt(rg) / 2);
  return std::cosh((n + 0.5 - j) * theta) / std::cosh((n + 0.5) * theta);
}

}  // namespace

TEST_CASE("device read: one wire of equal devices drops as the ladder does", "[wires]") {
  constexpr int n = 40;
  const double ohm = GENERATE(1.0, 30.0, 1000.0), g = 20e-6, volts = 0.2;
  // Both lines solve a tridiagonal system: some ulps times its condition, (n + ½)²·4/π² ≈ 700 at most.
  const DeviceRead row = read_devices(Matrix<double>::Constant(1, n, g), {ohm, 0}, {}, {}, volts);
  double sum = 0;
  for (int j = 1; j <= n; ++j) {
    CHECK(1 - row.ir_drop(0, j - 1) == Approx(ladder(j, n, ohm * g)).epsilon(1e-12));
    CHECK(row.currents_A(0, j - 1) == Approx(g * volts * ladder(j, n, ohm * g)).epsilon(1e-12));
    CHECK(row.ideal_A(0, j - 1) == Approx(g * volts));
    sum += g * volts * ladder(j, n, ohm * g);
  }
  // The same along a column, from its sense amplifier at i = n − 1 upwards: v − u obeys the same ladder.
  const DeviceRead column = read_devices(Matrix<double>::Constant(n, 1, g), {0, ohm}, {}, {}, volts);
  for (int j = 1; j <= n; ++j) CHECK(1 - column.ir_drop(n - j, 0) == Approx(ladder(j, n, ohm * g)).epsilon(1e-12));
  CHECK(column.currents_A(0, 0) == Approx(sum).epsilon(1e-12));
}

TEST_CASE("device read: the line solver sees at every device what nodal analysis sees", "[wires]") {
  const auto ends = GENERATE(LineEnds::one, LineEnds::both);
  const double ohm = GENERATE(0.1, 1.0, 50.0);
  const Matrix<double> g = conductances(24, 17, 3);
  const WireSpec spec{ohm, 1.7 * ohm, 5, 11, ends, ends};
  const DeviceRead read = read_devices(g, spec, {}, {}, 0.3);
  const Matrix<double> ones = Matrix<double>::Ones(1, 24);
  const Matrix<double> nodal = NodalSolver(g, spec).device_voltages(ones);
  // The iteration stops at 1e-10 in the norm of C⁻¹ of the eliminated system, whose condition is at most 1 + R G N² ≈ 30.
  CHECK(((1 - read.ir_drop.array()).matrix() - nodal).cwiseAbs().maxCoeff() < 1e-8);
  CHECK((read.currents_A - 0.3 * NodalSolver(g, spec).solve(ones)).norm() < 1e-8 * read.currents_A.norm());
  CHECK(read.ir_drop.minCoeff() > 0);
}

TEST_CASE("device read: without resistance nothing drops, tiles have drops of their own and add currents", "[wires]") {
  const Matrix<double> g = conductances(10, 7, 10);
  const DeviceRead ideal = read_devices(g, {}, {4, 5}, {}, 0.2);
  CHECK((ideal.ir_drop.array() == 0).all());
  CHECK(ideal.currents_A == ideal.ideal_A);
  const WireSpec spec{3, 2};
  const DeviceRead tiled = read_devices(g, spec, {4, 5}, {}, 0.2);
  const DeviceRead corner = read_devices(g.block(8, 5, 2, 2), spec, {}, {}, 0.2);
  CHECK(tiled.ir_drop.block(8, 5, 2, 2) == corner.ir_drop);  // the same operations
  Matrix<double> sum = Matrix<double>::Zero(1, 2);
  for (const auto& [i, rows] : {std::pair<Index, Index>{0, 4}, {4, 4}, {8, 2}}) {
    sum += LineSolver(g.block(i, 5, rows, 2), spec).solve(Matrix<double>::Constant(1, rows, 0.2), 1e-12).currents_A;
  }
  CHECK((tiled.currents_A.rightCols(2) - sum).norm() < 1e-8 * sum.norm());
  CHECK(tiled.ir_drop.mean() < read_devices(g, spec, {}, {}, 0.2).ir_drop.mean());
}

TEST_CASE("device read: curved devices are seen at the voltages that Newton's method finds", "[wires]") {
  const Matrix<double> g = conductances(9, 12, 4);
  const WireSpec spec{40, 25, 10, 5};
  const CurrentCurve curve{0.1, 0};
  const DeviceRead read = read_devices(g, spec, {}, curve, 0.3);
  // Kirchhoff's law at the columns: what the devices carry at these voltages is what the amplifiers get; the last Newton step
  // moved no node by more than 1e-10, and dI/I = V/V₀ coth(V/V₀) ≈ 3 times that.
  const Matrix<double> newton = NonlinearSolver(g, curve, spec).solve(Matrix<double>::Constant(1, 9, 0.3)).currents_A;
  CHECK((read.currents_A - newton).norm() < 1e-8 * newton.norm());
  CHECK(read.ideal_A(0, 0) == Approx(g.col(0).sum() * 0.1 * std::sinh(3)));
  // A drop of 0 V is that of small voltages, where the curve is straight.
  const DeviceRead small = read_devices(g, spec, {}, curve, 0);
  CHECK(small.ir_drop == read_devices(g, spec, {}, {}, 1).ir_drop);
  CHECK(small.currents_A.norm() == 0);
  CHECK(read.ir_drop.mean() > small.ir_drop.mean());  // more current at the same resistance
}

TEST_CASE("wire watch: rows are counted over all tiles, on the caller's thread, and no bit changes", "[wires]") {
  const Matrix<double> g = conductances(10, 7, 10);
  const WireSpec spec{3, 2};
  const Matrix<double> alone = effective_conductance(g, spec, {4, 5}, 2);
  Index last = 0, of = 0, calls = 0;
  {
    const WireWatch watch([&](Index done, Index total) {
      CHECK(done > last);
      last = done;
      of = total;
      ++calls;
    });
    CHECK(effective_conductance(g, spec, {4, 5}, 1) == alone);
    CHECK(calls == 20);  // one thread: every row of 10 in two columns of tiles
    CHECK(last == 20);
    last = 0;
    CHECK(effective_conductance(g, spec, {4, 5}, 2) == alone);
    CHECK(of == 20);
    CHECK(last <= 20);
  }
  const Index before = calls;
  CHECK(effective_conductance(g, spec, {4, 5}, 1) == alone);
  CHECK(calls == before);  // nobody watches
}

}  // namespace nudge
