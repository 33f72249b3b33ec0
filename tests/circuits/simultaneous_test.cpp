// SPDX-License-Identifier: Apache-2.0
// An array of pairs that is driven at rows and columns at once, against the currents of its single devices.
#include <cmath>

#include "circuits/circuit.hpp"
#include "circuits/circuit_dynamics.hpp"
#include "circuits/crossbar/crossbar.hpp"
#include "circuits/terms/bilinear_link.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

namespace nudge {
namespace {

constexpr Index kRows = 3, kFrom = 5, kTo = 4;

CrossbarSpec spec_of(double trim) {
  CrossbarSpec spec;
  spec.device.model = "ideal";
  spec.device.programming_error = 0.05;
  spec.periphery.directions = Directions::simultaneous;
  spec.periphery.load_trim = trim;
  return spec;
}

/// Two layers with the same activation between one array; kTo columns follow kFrom.
struct Pair {
  explicit Pair(const CrossbarSpec& spec, NodeActivation rho)
      : array(spec, test::random_matrix<double>(kFrom, kTo, 7, 0.4), 0, 3), activation(rho) {
    std::vector<Node> nodes = {{"a", {0, kFrom}}, {"b", {kFrom, kTo}}};
    std::vector<std::unique_ptr<Term<double>>> terms;
    terms.push_back(std::make_unique<BilinearLink<double>>(LinkEnd{0, {0, kFrom}, rho}, LinkEnd{1, {kFrom, kTo}, rho},
                                                           LinkWeights<double>{0, &array}));
    circuit = std::make_unique<Circuit<double>>(nodes, 1, std::move(terms), Damping{});
  }
  Crossbar<double> array;
  NodeActivation activation;
  std::unique_ptr<Circuit<double>> circuit;
};

/// What the devices of a pair carry at x on the rows and ±g on the columns: sensed at columns and rows, over k, and Σ G U².
struct Currents {
  Matrix<double> columns, rows;
  double heat = 0;
};

Currents currents(const Crossbar<double>& array, const Matrix<double>& x, const Matrix<double>& g) {
  const Matrix<double>&up = array.plus().conductance(), &down = array.minus().conductance();
  Currents all{Matrix<double>::Zero(kRows, kTo), Matrix<double>::Zero(kRows, kFrom)};
  for (Index n = 0; n < kRows; ++n) {
    for (Index i = 0; i < kFrom; ++i) {
      for (Index j = 0; j < kTo; ++j) {
        const double on_up = x(n, i) - g(n, j), on_down = x(n, i) + g(n, j);
        all.columns(n, j) += (up(i, j) * on_up - down(i, j) * on_down) / array.siemens_per_weight();
        all.rows(n, i) -= (up(i, j) * on_up + down(i, j) * on_down) / array.siemens_per_weight();
        all.heat += up(i, j) * on_up * on_up + down(i, j) * on_down * on_down;
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("both ends driven: what nodes get is what the devices carry, less the trimmed loads", "[simultaneous]") {
  const CrossbarSpec spec = spec_of(0);
  for (const NodeActivation rho : {NodeActivation::identity, NodeActivation::tanh}) {
    const Pair pair(spec, rho);
    CircuitDynamics<double> dynamics(*pair.circuit, kRows, 1);
    const Matrix<double> input = Matrix<double>::Zero(kRows, 1);
    ReadMeter meter;
    ReadContext read;
    read.meter = &meter;
    read.relaxation = {0.5, 0.25};
    dynamics.bind(input, read);
    const Matrix<double> z = test::random_matrix<double>(kRows, kFrom + kTo, 11);
    Matrix<double> r = z, slope = Matrix<double>::Ones(z.rows(), z.cols());
    if (rho == NodeActivation::tanh) {
      r = z.array().tanh().matrix();
      slope = (1 - r.array().square()).matrix();
    }
    const Matrix<double> x = r.leftCols(kFrom), g = r.rightCols(kTo);
    const Currents sensed = currents(pair.array, x, g);
    // A pair at the middle of its window carries g_min + g_max.
    const double pairs = (spec.device.g_min_S + spec.device.g_max_S) / pair.array.siemens_per_weight();
    Matrix<double> expected(kRows, kFrom + kTo);
    expected << sensed.rows + static_cast<double>(kTo) * pairs * x,
        sensed.columns + static_cast<double>(kFrom) * pairs * g;
    expected = (expected.array() * slope.array()).matrix() - z;
    Matrix<double> f(kRows, kFrom + kTo);
    dynamics.force(z, f);
    // Sums of a few numbers of the size of the loads, about 50, in double.
    CHECK((f - expected).norm() < 1e-12 * (1 + expected.norm()));
    const double volts = spec.circuit.read_voltage_V;
    CHECK(meter.total().array_J ==
          Approx(volts * volts * sensed.heat * 0.25 * spec.circuit.time_constant_s).epsilon(1e-12));
  }
}

TEST_CASE("both ends driven: the residue of a trim is a diagonal conductance, of an energy", "[simultaneous]") {
  CrossbarSpec spec = spec_of(1e-2);
  spec.periphery.trim_follows = true;
  const Pair following(spec, NodeActivation::tanh);
  spec.periphery.trim_follows = false;
  const Pair pair(spec, NodeActivation::tanh);
  const WeightSums<double>* left = pair.array.traits().residue;
  REQUIRE(left != nullptr);
  // ε of 1 % of a load of pairs; ten numbers.
  const double pairs = (spec.device.g_min_S + spec.device.g_max_S) / pair.array.siemens_per_weight();
  const LineView<double>& view = pair.array.view();
  const Matrix<double> trims = (view.column_load.matrix() - left->of_columns) / (static_cast<double>(kFrom) * pairs);
  CHECK((trims.array() - 1).abs().maxCoeff() > 1e-4);
  CHECK((trims.array() - 1).abs().maxCoeff() < 5e-2);
  // The same errors, of the loads as they are.
  const Matrix<double>& followed = following.array.traits().residue->of_columns;
  CHECK((followed.array() + (trims.array() - 1) * view.column_load).abs().maxCoeff() < 1e-12);

  CircuitDynamics<double> dynamics(*pair.circuit, kRows, 1);
  const Matrix<double> input = Matrix<double>::Zero(kRows, 1);
  ReadContext read;
  read.policy = ReadPolicy::all_ideal();
  dynamics.bind(input, read);
  const Matrix<double> z = test::random_matrix<double>(kRows, kFrom + kTo, 21);
  Linearization<double>& point = dynamics.linearize(z);
  const Matrix<double> v = test::random_matrix<double>(kRows, kFrom + kTo, 22);
  const Matrix<double> u = test::random_matrix<double>(kRows, kFrom + kTo, 23);
  Matrix<double> jv(kRows, kFrom + kTo), ju = jv, plus = jv, minus = jv;
  point.jvp(v, jv);
  point.vjp(u, ju);
  CHECK(u.cwiseProduct(jv).sum() == Approx(ju.cwiseProduct(v).sum()).epsilon(1e-12));
  // Central differences of h = 1e-5: h² of third derivatives of order one, and rounding of 1e-16/h.
  constexpr double h = 1e-5;
  dynamics.force(z + h * v, plus);
  dynamics.force(z - h * v, minus);
  CHECK(((plus - minus) / (2 * h) - jv).norm() < 1e-8 * jv.norm());
  Matrix<double> f(kRows, kFrom + kTo);
  dynamics.force(z, f);
  const double slope = (*dynamics.energy(z + h * v) - *dynamics.energy(z - h * v)) / (2 * h);
  CHECK(slope == Approx(-f.cwiseProduct(v).sum()).epsilon(1e-8));
}

}  // namespace nudge
