// SPDX-License-Identifier: Apache-2.0
// Deep resistive networks as circuits: Kirchhoff's law, energy, power, coordinate descent.
#include <limits>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/resistive/coordinate_descent.hpp"
#include "tests/support/resistive/resistive_energy.hpp"
#include "tests/support/resistive/resistive_solver.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Net = ResistiveNetwork;
using Bias = ResistiveBias;

Matrix<double> matrix(Index rows, Index cols, std::initializer_list<double> values) {
  Matrix<double> m(rows, cols);
  std::copy(values.begin(), values.end(), m.data());
  return m;
}

/// β C of every sample.
double nudge_energy(const Net& net, const ResistiveNudge& nudge, const Matrix<double>& v) {
  const Columns out = net.columns(net.depth());
  return nudge.beta * net.factor(net.depth()) * 0.5 * (v.middleCols(out.begin, out.count) - nudge.target).squaredNorm();
}

}  // namespace

TEST_CASE("resistive: a voltage divider", "[resistive]") {
  // One output between A_0 x, −A_0 x and the rails: v = (A_0 (g_1 − g_2) x + V_b (p − m))/(g_1 + g_2 + p + m).
  const Net net({{matrix(2, 1, {3e-5, 1e-5}), matrix(2, 1, {2e-5, 4e-5})}}, {2.0}, Bias::rails, 0.5);
  const Matrix<double> sources = doubled_input(matrix(1, 1, {0.3}));
  const double expected = (2.0 * (3e-5 - 1e-5) * 0.3 + 0.5 * (2e-5 - 4e-5)) / 1e-4;
  const ResistiveState state = ResistiveSolver(net).solve(sources);
  CHECK(state.voltages(0, 0) == Approx(expected).epsilon(1e-14));
  CHECK(net.node_conductance()(0, 0) == Approx(1e-4).epsilon(1e-15));
  // Nudged: a conductance β to a source at y more. The limit of −β is the whole conductance.
  const ResistiveNudge nudge{-4e-5, matrix(1, 1, {0.9})};
  CHECK(ResistiveSolver(net).solve(sources, nudge).voltages(0, 0) ==
        Approx((expected * 1e-4 - 4e-5 * 0.9) / (1e-4 - 4e-5)).epsilon(1e-14));
  CHECK(ResistiveSolver(net).nudge_limit_S() == Approx(1e-4).epsilon(1e-14));
}

TEST_CASE("resistive: one diode, open and conducting", "[resistive]") {
  // Input ±1 → hidden h (v ≤ 0: ⌊1/2⌋ = 0 nodes above) → output o; the amplifier has A = 4.
  const double g = 2.0, k = 1.0, a = 4.0;
  const Net net({{matrix(2, 1, {g, 0}), {}}, {matrix(1, 1, {k}), {}}}, {1.0, a}, Bias::none, 0);
  const ResistiveSolver solver(net);
  // Open (x = −1): o sits at A h (no current), so h = x.
  const ResistiveState open = solver.solve(doubled_input(matrix(1, 1, {-1.0})));
  CHECK(open.voltages(0, 0) == Approx(-1.0).epsilon(1e-14));
  CHECK(open.voltages(0, 1) == Approx(-a).epsilon(1e-14));
  CHECK(open.free[0][0]);
  // Conducting (x = 1): h = 0, and the diode takes the whole current g x.
  const Matrix<double> up = doubled_input(matrix(1, 1, {1.0}));
  const ResistiveState held = solver.solve(up);
  CHECK(held.voltages(0, 0) == 0.0);
  CHECK(held.voltages(0, 1) == Approx(0.0).margin(1e-15));
  CHECK_FALSE(held.free[0][0]);
  CHECK(diode_currents(net, up, held)(0, 0) == Approx(-g).epsilon(1e-14));
  CHECK(net.factor(2) == Approx(1 / (a * a)).epsilon(1e-15));
  // Limit of −β: the output sees k against k²A²c_2/G_h = k²/(g + k) through the amplifier: k − k²/(g + k).
  CHECK(solver.nudge_limit_S() == Approx(k - k * k / (g + k)).epsilon(1e-13));
}

TEST_CASE("resistive: c_l I_l is minus the derivative of the energy, and jvp that of the current", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 51), v = make_state(net, 2, 52);
    const ResistiveNudge nudge{0.3 * make.unit_S, random_matrix<double>(2, net.width(net.depth()), 53)};
    Matrix<double> scaled = resistive_currents(net, sources, v, nudge);
    for (Index l = 1; l <= net.depth(); ++l) {
      scaled.middleCols(net.columns(l).begin, net.width(l)) *= net.factor(l);
    }
    Matrix<double> slope(2, net.cols());
    const auto energy = [&](const Matrix<double>& at) {
      return resistive_energy(net, sources, at).sum() + nudge_energy(net, nudge, at);
    };
    // E is quadratic: a central difference of step 1 is exact but for rounding, ε E/|∂E| of up to (A_0 v)² G/(A_0 v G) = 100.
    for (Index i = 0; i < v.size(); ++i) {
      Matrix<double> plus = v, minus = v;
      plus.data()[i] += 1;
      minus.data()[i] -= 1;
      slope.data()[i] = (energy(plus) - energy(minus)) / 2;
    }
    CHECK(relative_error(scaled, -slope) < 1e-12);
    const Matrix<double> p = random_matrix<double>(2, net.cols(), 54);
    const Matrix<double> change = resistive_currents(net, sources, v + p) - resistive_currents(net, sources, v);
    CHECK(relative_error(change, resistive_jvp(net, p)) < 1e-12);
  }
}

TEST_CASE("resistive: in the steady state the sources deliver what the resistors dissipate", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 3, 55);
    const ResistiveState state = ResistiveSolver(net).solve(sources);
    const ResistivePower power = resistive_power(net, sources, state.voltages);
    const Matrix<double> delivered = power.inputs + power.amplifiers + power.bias;
    CHECK(relative_error(delivered, power.resistors) < 1e-12);  // roundings of sums of the same size
    CHECK(power.resistors.minCoeff() > 0);
    // Away from it the nodes themselves store or supply the rest: Σ v_l I_l.
    const Matrix<double> v = make_state(net, 3, 56);
    const ResistivePower away = resistive_power(net, sources, v);
    const Matrix<double> into = v.cwiseProduct(resistive_currents(net, sources, v)).rowwise().sum();
    CHECK(relative_error(away.inputs + away.amplifiers + away.bias - into, away.resistors) < 1e-12);
  }
}

TEST_CASE("resistive: amplifiers only change the scale of a layer", "[resistive]") {
  // u_l = v_l/(A_1 ⋯ A_{l−1}) is the steady state of the same conductances with A_0 alone, b_l scaled likewise.
  ResistiveMake make{{6, 5, 4, 3}, {3.0, 2.0, 1.5}, Bias::current, 1.0, 0.7, 8};
  const Net with = make_resistive(make);
  std::vector<ResistiveLayer> layers;
  std::vector<double> scale{1.0, 2.0, 3.0};  // A_1 ⋯ A_{l−1}
  for (Index l = 1; l <= 3; ++l) {
    layers.push_back(with.layer(l));
    layers.back().bias /= scale[static_cast<std::size_t>(l - 1)];
  }
  const Net without(layers, {3.0, 1.0, 1.0}, Bias::current, 0.7);
  const Matrix<double> sources = make_sources(with, 4, 57), target = random_matrix<double>(4, 3, 58);
  const ResistiveNudge nudge{0.1, target}, scaled{0.1, target / 3.0};
  const Matrix<double> v = ResistiveSolver(with).solve(sources, nudge).voltages;
  const Matrix<double> u = ResistiveSolver(without).solve(sources, scaled).voltages;
  for (Index l = 1; l <= 3; ++l) {
    const Columns at = with.columns(l);
    CHECK(relative_error(v.middleCols(at.begin, at.count),
                         scale[static_cast<std::size_t>(l - 1)] * u.middleCols(at.begin, at.count)) < 1e-13);
  }
  CHECK(ResistiveSolver(with).nudge_limit_S() == Approx(ResistiveSolver(without).nudge_limit_S()).epsilon(1e-13));
}

TEST_CASE("resistive: coordinate descent never raises the energy and ends in the steady state", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    const Net net = make_resistive(make);
    for (const double beta : {0.0, 0.2, -0.05}) {
      CAPTURE(make.seed, beta);
      const Matrix<double> sources = make_sources(net, 3, 59);
      const ResistiveNudge nudge{beta * make.unit_S, random_matrix<double>(3, net.width(net.depth()), 60)};
      CoordinateDescent descent(net);
      descent.bind(sources);
      descent.nudge(nudge.beta, nudge.target);
      Matrix<double> v = make_state(net, 3, 61);
      const auto energy = [&] { return resistive_energy(net, sources, v).sum() + nudge_energy(net, nudge, v); };
      const double outset = energy();
      double before = outset;
      for (int i = 0; i < 30; ++i) {
        descent.sweep(v);
        const double now = energy();
        CHECK(now <= before + 1e-14 * std::abs(outset));  // rounding of the sum itself
        before = now;
      }
      CHECK(before < outset);
      Matrix<double> clipped = v;
      clip(net, clipped);
      CHECK(clipped == v);
      descent.sweep(v, 3000);  // the slowest network here gains a digit in about 60 sweeps
      const Matrix<double> exact = ResistiveSolver(net).solve(sources, nudge).voltages;
      CHECK(relative_error(v, exact) < 1e-11);
    }
  }
}

TEST_CASE("resistive: networks that are none are refused", "[resistive]") {
  const auto make = [](const Matrix<double>& g1, const Matrix<double>& g2, std::vector<double> gains,
                       Bias bias = Bias::none, const Matrix<double>& b = {}) {
    return Net({{g1, b}, {g2, {}}}, std::move(gains), bias, 1.0);
  };
  const Matrix<double> g1 = Matrix<double>::Ones(4, 3), g2 = Matrix<double>::Ones(3, 2);
  CHECK_NOTHROW(make(g1, g2, {1.0, 1.0}));
  Matrix<double> negative = g1;
  negative(2, 1) = -1e-30;
  CHECK_THROWS_WITH(make(negative, g2, {1.0, 1.0}), Contains("g1[2, 1]") && Contains("must be >= 0"));
  negative(2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(make(negative, g2, {1.0, 1.0}), Contains("g1[2, 1]") && Contains("finite"));
  CHECK_THROWS_WITH(make(g1, Matrix<double>::Ones(2, 2), {1.0, 1.0}), Contains("g2 has 2 rows"));
  CHECK_THROWS_WITH(make(g1, g2, {1.0}), Contains("1 gains for 2 layers"));
  CHECK_THROWS_WITH(make(g1, g2, {1.0, 0.0}), Contains("A_1 = 0"));
  CHECK_THROWS_WITH(make(g1, g2, {1.0, 1.0}, Bias::rails, Matrix<double>::Ones(1, 3)), Contains("bias of layer 1"));
  CHECK_THROWS_AS(Net({}, {}, Bias::none, 0.0), UserError);
}
