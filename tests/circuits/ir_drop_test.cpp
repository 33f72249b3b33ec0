// SPDX-License-Identifier: Apache-2.0
// The IR drop figure against nodal analysis: Thomson's bound for any array, and both bounds for uniform ones.
#include <cmath>

#include "circuits/wires/solvers.hpp"
#include "sim/base/rng.hpp"
#include "tests/circuits/nodal_solver.hpp"
#include "tests/support/catch.hpp"

namespace nudge {
namespace {

/// Conductances between 1 and 100 uS, log-uniform.
Matrix<double> uneven(Index rows, Index cols) {
  Matrix<double> g(rows, cols);
  fill_uniform<double>({5, Purpose::probe, 0}, 0, 0, std::span<double>(g.data(), static_cast<std::size_t>(g.size())));
  return (1e-6 * (std::log(100.0) * g.array()).exp()).matrix();
}

/// Sum of the column currents for equal drives over that of ideal wires.
double arriving(const Matrix<double>& g, const WireSpec& spec) {
  return NodalSolver(g, spec).solve(Matrix<double>::Ones(1, g.rows())).sum() / g.sum();
}

const std::vector<WireSpec>& wires() {
  static const std::vector<WireSpec> all = {{1.3, 0.9, 20, 15, LineEnds::one, LineEnds::one},
                                            {1.3, 0.9, 20, 15, LineEnds::both, LineEnds::both},
                                            {1.3, 0.9, 200, 15, LineEnds::both, LineEnds::one},
                                            {5, 0.1, 0, 0, LineEnds::one, LineEnds::one},
                                            {0.1, 5, 0, 400, LineEnds::one, LineEnds::both}};
  return all;
}

}  // namespace

TEST_CASE("IR drop figure: uniform arrays lie between its two bounds, with drivers and sense amplifiers", "[wires]") {
  for (const auto& [rows, cols, g] : {std::tuple{64, 64, 50e-6}, {16, 100, 50e-6}, {100, 16, 5e-6}, {1, 1, 1e-3}}) {
    const Matrix<double> array = Matrix<double>::Constant(rows, cols, g);
    for (const WireSpec& spec : wires()) {
      CAPTURE(rows, cols, spec.row_ohm, spec.driver_ohm, spec.column_ohm, spec.sense_ohm);
      const double figure = ir_drop_figure(spec, array);
      const double through = arriving(array, spec);
      // Thomson below; above, the two-point distribution of largest E[1/(1 + k)] of mean L and mean square 1.2 L². Both
      // hold exactly; 1e-9 for the rounding of the sparse solve.
      CHECK(through >= 1 / (1 + figure) - 1e-9);
      CHECK(through <= (1 + 0.2 * figure) / (1 + 1.2 * figure) + 1e-9);
    }
  }
}

TEST_CASE("IR drop figure: never too small a loss for uneven arrays, and right to first order", "[wires]") {
  const Matrix<double> g = uneven(40, 24);
  for (WireSpec spec : wires()) {
    CAPTURE(spec.row_ohm, spec.driver_ohm, spec.column_ohm, spec.sense_ohm);
    const double figure = ir_drop_figure(spec, g);
    const double through = arriving(g, spec);
    CHECK(through >= 1 / (1 + figure) - 1e-9);
    // A thousandth of every resistance: 1 − through = L − O(L²), and second moments of uneven arrays stay below 10 L².
    spec.row_ohm *= 1e-3;
    spec.column_ohm *= 1e-3;
    spec.driver_ohm *= 1e-3;
    spec.sense_ohm *= 1e-3;
    const double small = ir_drop_figure(spec, g);
    CHECK(small == Approx(1e-3 * figure).epsilon(1e-12));
    CHECK(std::abs(1 - arriving(g, spec) - small) < 10 * small * small + 1e-9);
  }
}

TEST_CASE("IR drop figure: the closed form of uniform arrays and the audited array", "[wires]") {
  const WireSpec spec{1.3, 0.9, 20, 15, LineEnds::one, LineEnds::one};
  const double g = 49.7e-6;
  const double closed = g * (20 * 48 + 1.3 * 49 * 97 / 6 + 15 * 64 + 0.9 * 65 * 129 / 6);
  CHECK(ir_drop_figure(spec, Matrix<double>::Constant(64, 48, g)) == Approx(closed).epsilon(1e-12));
  // 64 x 64, 21 % lost: a figure without driver and sense amplifier said 13 %.
  const Matrix<double> array = Matrix<double>::Constant(64, 64, g);
  const double figure = ir_drop_figure(spec, array);
  CHECK(1 - arriving(array, spec) == Approx(0.21).margin(0.01));
  CHECK(figure / (1 + figure) == Approx(0.21).margin(0.01));
  CHECK(ir_drop_figure(WireSpec{}, array) == 0);
  CHECK(ir_drop_figure(spec, Matrix<double>::Zero(3, 3)) == 0);
  CHECK(ir_drop_figure(spec, Matrix<double>(0, 3)) == 0);
}

}  // namespace nudge
