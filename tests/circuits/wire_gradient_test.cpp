// SPDX-License-Identifier: Apache-2.0
// The derivative of what the lines see with respect to single devices: closed forms, central differences of nodal analysis.

#include "circuits/crossbar/crossbar.hpp"
#include "circuits/linear_map_factory.hpp"
#include "circuits/wires/tiled_array.hpp"
#include "tests/circuits/nodal_solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/tiny_block.hpp"

using namespace nudge;
using test::random_matrix;
using test::relative_error;

namespace {

/// Around 50 uS, positive.
Matrix<double> conductances(Index rows, Index cols, std::uint64_t seed) {
  return (50e-6 + 20e-6 * random_matrix<double>(rows, cols, seed).array().tanh()).matrix();
}

/// Two devices on one driven wire: r0, a, r1, b; behind each a wire of its own with rc.
struct TwoOnAWire {
  double g1, g2, r0, r1, rc;
  double currents[2], slopes[2][2];  ///< I_n, ∂I_n/∂G_j at 1 V

  TwoOnAWire(double g1_S, double g2_S, double first_ohm, double next_ohm, double own_ohm)
      : g1(g1_S), g2(g2_S), r0(first_ohm), r1(next_ohm), rc(own_ohm) {
    const double a = g1 / (1 + g1 * rc), b = g2 / (1 + g2 * rc);
    const double s = 1 / (1 + r1 * b);
    const double v = 1 / (1 + r0 * (a + b * s));  // of node a; s v is that of node b
    currents[0] = a * v;
    currents[1] = b * s * v;
    const double da = 1 / ((1 + g1 * rc) * (1 + g1 * rc)), db = 1 / ((1 + g2 * rc) * (1 + g2 * rc));
    slopes[0][0] = (v - a * r0 * v * v) * da;
    slopes[1][0] = -b * s * r0 * v * v * da;
    slopes[0][1] = -a * r0 * v * v * s * s * db;
    slopes[1][1] = (s * s * v - b * s * r0 * v * v * s * s) * db;
  }
};

}  // namespace

TEST_CASE("wire gradient: one device in series with its wires, dW/dG = 1/(1 + G R)^2", "[wire_gradient]") {
  const double g = 50e-6;
  const WireSpec wires{100, 200, 30, 70, LineEnds::one, LineEnds::one};
  const double r = 100 + 30 + 200 + 70;
  for (const PathEnds ends : {PathEnds::near, PathEnds::far}) {
    const Matrix<double> slope =
        device_gradient(Matrix<double>::Constant(1, 1, g), wires, {}, ends, Matrix<double>::Constant(1, 1, 0.7),
                        Matrix<double>::Constant(1, 1, -0.3));
    CHECK(slope(0, 0) == Approx(-0.21 / ((1 + g * r) * (1 + g * r))).epsilon(1e-11));  // one unknown: solved exactly
  }
}

TEST_CASE("wire gradient: two devices on one wire", "[wire_gradient]") {
  const Matrix<double> g = (Matrix<double>(1, 2) << 40e-6, 70e-6).finished();
  const WireSpec wires{1000, 300, 500, 200, LineEnds::one, LineEnds::one};
  const TwoOnAWire expected(g(0, 0), g(0, 1), 1500, 1000, 500);
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  const Matrix<double> seen = effective_conductance(g, wires, {}, 1, PathEnds::near, 1e-13);
  for (Index n = 0; n < 2; ++n) {
    CHECK(seen(0, n) == Approx(expected.currents[n]).epsilon(1e-11));
    const Matrix<double> slope =
        device_gradient(g, wires, {}, PathEnds::near, one, Matrix<double>::Identity(2, 2).row(n));
    for (Index j = 0; j < 2; ++j) CHECK(slope(0, j) == Approx(expected.slopes[n][j]).epsilon(1e-9));  // solved to 1e-10
  }
}

TEST_CASE("wire gradient: from the opposite ends columns are driven behind the sense resistance", "[wire_gradient]") {
  // Two rows, one column. Transposed, the column is driven at i = 0 through column + sense, the rows sensed behind row + driver.
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.wires = {1000, 300, 500, 200, LineEnds::one, LineEnds::one};
  spec.periphery.path = TransposedPath::opposite_ends;
  const Crossbar<double> array(spec, (Matrix<double>(2, 1) << 0.3, -0.2).finished(), 0, 1);
  ReadContext read;
  Matrix<double> rows(1, 2);
  array.transposed(Matrix<double>::Ones(1, 1), rows, array.all_columns(), Store::assign, read);
  const auto behind = [&](const Matrix<double>& g) { return TwoOnAWire(g(0, 0), g(1, 0), 500, 300, 1500); };
  const TwoOnAWire plus = behind(array.plus().conductance()), minus = behind(array.minus().conductance());
  for (Index i = 0; i < 2; ++i) {
    const double expected = (plus.currents[i] - minus.currents[i]) / array.siemens_per_weight();
    CHECK(rows(0, i) == Approx(expected).epsilon(1e-7));  // arrays solve their wires to 1e-8
  }
}

TEST_CASE("wire gradient: central differences of what the lines see", "[wire_gradient]") {
  const Index rows = 11, cols = 8;
  const Matrix<double> g = conductances(rows, cols, 1);
  const Matrix<double> x = random_matrix<double>(3, rows, 2), y = random_matrix<double>(3, cols, 3);
  const Matrix<double> change = 1e-4 * g.cwiseProduct(random_matrix<double>(rows, cols, 4));
  const auto ends = GENERATE(LineEnds::one, LineEnds::both);
  const auto path = GENERATE(PathEnds::near, PathEnds::far);
  const auto tiles = GENERATE(TileSpec{}, TileSpec{4, 3});
  for (const WireSpec wires : {WireSpec{20, 20, 50, 30, ends, ends}, WireSpec{20, 0, 50, 0, ends, ends},
                               WireSpec{0, 20, 0, 30, ends, ends}, WireSpec{300, 100, 0, 0, ends, ends}}) {
    CAPTURE(wires.row_ohm, wires.column_ohm, tiles.rows, path == PathEnds::far);
    const auto value = [&](double sign) {
      const Matrix<double> seen = effective_conductance(g + sign * change, wires, tiles, 1, path, 1e-13);
      return (x * seen).cwiseProduct(y).sum();
    };
    const double quotient = 0.5 * (value(1) - value(-1));
    const double exact = device_gradient(g, wires, tiles, path, x, y).cwiseProduct(change).sum();
    // Solves leave 1e-13 over steps of 1e-4: 1e-9 of the size of the terms of the sum; its third order (1e-4 R G N)² less.
    const double size = x.norm() * y.norm() * change.norm();
    CHECK(std::abs(quotient - exact) < 1e-8 * size);
    // The local rule, which takes the lines for what the devices see, is off by far more.
    const double local = (x.transpose() * y).cwiseProduct(change).sum();
    CHECK(std::abs(quotient - local) > 1e-4 * size);
  }
}

TEST_CASE("wire gradient: central differences of single devices by nodal analysis", "[wire_gradient]") {
  const Matrix<double> g = conductances(6, 5, 5);
  const WireSpec wires{20, 15, 50, 30, LineEnds::one, LineEnds::one};
  const Matrix<double> x = random_matrix<double>(1, 6, 6), y = random_matrix<double>(1, 5, 7);
  const Matrix<double> exact = device_gradient(g, wires, {}, PathEnds::near, x, y);
  Matrix<double> quotients(6, 5);
  for (Index i = 0; i < g.size(); ++i) {
    const double h = 1e-4 * g.data()[i];
    const auto value = [&](double by) {
      Matrix<double> moved = g;
      moved.data()[i] += by;
      return NodalSolver(moved, wires).solve(x).cwiseProduct(y).sum();
    };
    quotients.data()[i] = (value(h) - value(-h)) / (2 * h);
  }
  // Currents of 30 devices rounded at 1e-16 each, over a step of 1e-4 of one: 1e-11 at a condition of 10; h²/6 less.
  CHECK(relative_error(exact, quotients) < 1e-9);
}

TEST_CASE("wire gradient: the circuit of arrays behind wires, by every mapping and kind of map", "[wire_gradient]") {
  const auto kind = GENERATE(MappingKind::differential, MappingKind::reference_column, MappingKind::offset);
  const auto path = GENERATE(TransposedPath::same_ends, TransposedPath::opposite_ends);
  const auto way = GENERATE(ReadDirection::forward, ReadDirection::transposed);
  const auto holder = GENERATE(0, 1, 2);  // an array, one per token, two arrays of Tiki-Taka
  CrossbarSpec spec;
  spec.mapping.kind = kind;
  spec.wires = {20, 30, 50, 40, LineEnds::one, LineEnds::one};
  spec.tiles = {3, 4};
  spec.periphery.path = path;
  spec.periphery.forward.amplifier.saturation = 3;
  spec.device.programming_error = 0.02;
  if (holder == 1) spec.tokens = {.use = TokenUse::replicated, .count = 2};
  if (holder == 2) {
    spec.programming.update = UpdateScheme::residual;
    spec.rule.share = 0.3;
  }
  CAPTURE(static_cast<int>(kind), static_cast<int>(path), static_cast<int>(way), holder);
  const Index rows = 5, cols = 7;
  const auto map = make_linear_map<double>(spec, random_matrix<double>(rows, cols, 1, 0.4), 0, 1);
  const auto circuit = map->noise_free();
  const bool forward = way == ReadDirection::forward;
  const Columns part{2, 4};  // the others are sensed or left at 0 V
  const Matrix<double> x = random_matrix<double>(2, forward ? rows : part.count, 2);
  const Matrix<double> u = random_matrix<double>(2, forward ? part.count : rows, 3);
  ReadContext context;
  context.exact = true;
  test::SummingSink<double> sink({circuit.get()});
  circuit->correlate(way, x, u, part, 1.0, 0, sink, context);
  const Matrix<double> quotients = test::update_quotients(*circuit, 1e-4, [&] {
    ReadContext read;
    Matrix<double> out(u.rows(), u.cols());
    circuit->read(way, x, out, part, Store::assign, read);
    return out.cwiseProduct(u).sum();
  });
  // Arrays solve their wires to 1e-8 of full scale: the circuit's operating point behind tanh; 1e-13 over 1e-4 of the quotients
  // and h²/6 of tanh''' (below 1) less.
  CHECK(relative_error(sink.sums[0], quotients) < 1e-7);
}
