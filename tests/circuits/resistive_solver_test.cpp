// SPDX-License-Identifier: Apache-2.0
// The exact steady state of deep resistive networks and the gradients taken from it.
#include <Eigen/Core>

#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/resistive/coordinate_descent.hpp"
#include "tests/support/resistive/resistive_energy.hpp"
#include "tests/support/resistive/resistive_gradient.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Net = ResistiveNetwork;
using Bias = ResistiveBias;

/// The steady state of one sample by trying every set of conducting diodes: the one set whose voltages and currents fit.
Matrix<double> by_enumeration(const Net& net, const Matrix<double>& sources, const ResistiveNudge& nudge) {
  const Index n = net.cols(), diodes = net.columns(net.depth()).begin;
  Matrix<double> slope(n, n), found;
  const Matrix<double> zero = Matrix<double>::Zero(1, n);
  const Matrix<double> drive = resistive_currents(net, sources, zero, nudge);
  for (Index j = 0; j < n; ++j) {
    const Matrix<double> one = Matrix<double>::Identity(n, n).row(j);
    slope.col(j) = (resistive_currents(net, sources, one, nudge) - drive).transpose();
  }
  for (Index set = 0; set < (Index{1} << diodes); ++set) {
    Matrix<double> a = slope, b = -drive.transpose();
    for (Index j = 0; j < diodes; ++j) {
      if (((set >> j) & 1) == 0) continue;  // held: v_j = 0
      a.row(j).setZero();
      a(j, j) = 1;
      b(j, 0) = 0;
    }
    const Matrix<double> v = solution(a, b).transpose();
    const Matrix<double> current = resistive_currents(net, sources, v, nudge);
    bool fits = true;
    for (Index l = 1; l < net.depth(); ++l) {
      for (Index j = 0; j < net.width(l); ++j) {
        const Index at = net.columns(l).begin + j;
        const double sign = j < net.nodes_above_zero(l) ? 1 : -1;
        fits = fits && (((set >> at) & 1) == 1 ? sign * current(0, at) <= 0 : sign * v(0, at) >= 0);
      }
    }
    if (fits) found = v;
  }
  return found;
}

ResistiveGradient slopes(const Net& net, double step, const Matrix<double>& sources, const Matrix<double>& y) {
  ResistiveGradient out = zero_gradient(net);
  const auto cost = [&](const Net& other) {
    const Columns at = other.columns(other.depth());
    const Matrix<double> v = ResistiveSolver(other).solve(sources).voltages;
    return 0.5 * (v.middleCols(at.begin, at.count) - y).squaredNorm() / static_cast<double>(v.rows());
  };
  for (Index l = 1; l <= net.depth(); ++l) {
    const auto vary = [&](bool bias, Index i) {
      const auto moved = [&](double by) {
        ResistiveLayer layer = net.layer(l);
        (bias ? layer.bias : layer.conductance).data()[i] += by;
        return cost(with_layer(net, l, layer));
      };
      const auto& numbers = bias ? net.layer(l).bias : net.layer(l).conductance;
      const bool open = !(bias && net.bias() == Bias::current) && numbers.data()[i] < step;  // never below 0
      return open ? (4 * moved(step) - moved(2 * step) - 3 * moved(0)) / (2 * step)
                  : (moved(step) - moved(-step)) / (2 * step);
    };
    auto& [g, b] = out[static_cast<std::size_t>(l - 1)];
    for (Index i = 0; i < g.size(); ++i) g.data()[i] = vary(false, i);
    for (Index i = 0; i < b.size(); ++i) b.data()[i] = vary(true, i);
  }
  return out;
}

double worst_error(const ResistiveGradient& a, const ResistiveGradient& b) {
  double worst = 0;
  for (std::size_t l = 0; l < a.size(); ++l) {
    worst = std::max({worst, relative_error(a[l].conductance, b[l].conductance), relative_error(a[l].bias, b[l].bias)});
  }
  return worst;
}

struct Learned {
  ResistiveGradient plus, minus, centered, exact;
};

Learned learn(const Net& net, const Matrix<double>& sources, const Matrix<double>& y, double beta) {
  const double samples = static_cast<double>(y.rows());
  const ResistiveSolver solver(net);
  const ResistiveState star = solver.solve(sources);
  const Matrix<double> up = solver.solve(sources, {beta, y}).voltages,
                       down = solver.solve(sources, {-beta, y}).voltages;
  Learned out{zero_gradient(net), zero_gradient(net), zero_gradient(net), zero_gradient(net)};
  accumulate_half_squares(net, sources, up, star.voltages, 1 / (beta * samples), out.plus);
  accumulate_half_squares(net, sources, star.voltages, down, 1 / (beta * samples), out.minus);
  accumulate_half_squares(net, sources, up, down, 0.5 / (beta * samples), out.centered);
  accumulate_mixed(net, sources, star.voltages, resistive_adjoint(net, star, y), 1 / samples, out.exact);
  return out;
}

}  // namespace

TEST_CASE("resistive solver: the steady state is the one that enumerating the diodes finds", "[resistive]") {
  for (ResistiveMake make : resistive_kinds()) {
    make.widths.back() = 2;
    for (auto& width : make.widths) width = std::min<Index>(width, 6);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      make.seed += 20;
      const Net net = make_resistive(make);
      if (net.columns(net.depth()).begin > 12) continue;
      const ResistiveSolver solver(net);
      const Matrix<double> sources = make_sources(net, 2, 71 + seed), y = random_matrix<double>(2, 2, 75 + seed);
      for (const double beta : {0.0, 0.5, -0.5}) {
        const ResistiveNudge nudge{beta * solver.nudge_limit_S(), y};
        const ResistiveState state = solver.solve(sources, nudge);
        for (Index b = 0; b < 2; ++b) {
          CAPTURE(make.seed, seed, beta, b);
          const Matrix<double> expected = by_enumeration(net, sources.row(b), {nudge.beta, y.row(b)});
          REQUIRE(expected.size() == net.cols());
          // Rounding of two direct solves; the condition at half the limit of β is below 1e3.
          CHECK(relative_error(state.voltages.row(b), expected) < 1e-12);
        }
      }
    }
  }
}

TEST_CASE("resistive solver: diodes carry current where they hold and nowhere else", "[resistive]") {
  int held = 0, free = 0;
  for (const ResistiveMake& make : resistive_kinds()) {
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 5, 81);
    const ResistiveState state = ResistiveSolver(net).solve(sources, {}, make_state(net, 5, 82));
    const Matrix<double> diode = diode_currents(net, sources, state);
    const Matrix<double> current = resistive_currents(net, sources, state.voltages);
    for (Index b = 0; b < 5; ++b) {
      const double scale = state.voltages.row(b).cwiseAbs().maxCoeff();
      for (Index l = 1; l <= net.depth(); ++l) {
        for (Index j = 0; j < net.width(l); ++j) {
          CAPTURE(make.seed, b, l, j);
          const Index at = net.columns(l).begin + j;
          const double sign = net.has_diodes(l) && j >= net.nodes_above_zero(l) ? -1 : 1;
          if (state.free[static_cast<std::size_t>(b)][static_cast<std::size_t>(at)]) {
            ++free;
            CHECK(diode(b, at) == 0.0);
            CHECK(std::abs(current(b, at)) / net.node_conductance()(0, at) <= 1e-13 * std::max(scale, net.gain(0)));
            if (net.has_diodes(l)) CHECK(sign * state.voltages(b, at) >= 0);
          } else {
            ++held;
            CHECK(state.voltages(b, at) == 0.0);
            CHECK(sign * diode(b, at) >= 0);
          }
        }
      }
    }
  }
  CHECK(held > 20);
  CHECK(free > 20);
}

TEST_CASE("resistive solver: the unit of the conductances changes no voltage", "[resistive]") {
  ResistiveMake make{{6, 5, 4, 3}, {3.0, 2.0, 1.5}, Bias::rails, 1.0, 0.7, 11};
  const Net one = make_resistive(make);
  make.unit_S = 1e-12;
  const Net small = make_resistive(make);
  const Matrix<double> sources = make_sources(one, 3, 83), y = random_matrix<double>(3, 3, 84);
  const ResistiveState a = ResistiveSolver(one).solve(sources, {-0.05, y});
  const ResistiveState b = ResistiveSolver(small).solve(sources, {-0.05e-12, y});
  CHECK(a.free == b.free);
  CHECK(relative_error(b.voltages, a.voltages) < 1e-13);
}

TEST_CASE("resistive gradient: the drops' products are what every resistor would compare by itself", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 3, 85), plus = make_state(net, 3, 86),
                         minus = make_state(net, 3, 87);
    ResistiveGradient fast = zero_gradient(net), slow = zero_gradient(net);
    accumulate_half_squares(net, sources, plus, minus, 0.7, fast);
    const auto square = [](double d) { return 0.5 * d * d; };
    for (Index l = 1; l <= net.depth(); ++l) {
      const double scale = 0.7 * net.factor(l) / net.factor(net.depth());
      auto& [g, bias] = slow[static_cast<std::size_t>(l - 1)];
      for (Index b = 0; b < 3; ++b) {
        const auto below = [&](const Matrix<double>& v, Index i) {
          return net.gain(l - 1) * (l == 1 ? sources(b, i) : v(b, net.columns(l - 1).begin + i));
        };
        for (Index j = 0; j < net.width(l); ++j) {
          const double p = plus(b, net.columns(l).begin + j), m = minus(b, net.columns(l).begin + j);
          for (Index i = 0; i < net.width(l - 1); ++i) {
            g(i, j) += scale * (square(below(plus, i) - p) - square(below(minus, i) - m));
          }
          if (net.bias() == Bias::rails) {
            bias(0, j) += scale * (square(net.rail_V() - p) - square(net.rail_V() - m));
            bias(1, j) += scale * (square(-net.rail_V() - p) - square(-net.rail_V() - m));
          } else if (net.bias() == Bias::current) {
            bias(0, j) -= scale * (p - m);
          }
        }
      }
    }
    CHECK(worst_error(fast, slow) < 1e-12);  // squares of A_0 v ≤ 300 with differences of order A_0 v: 300 ε
  }
}

TEST_CASE("resistive gradient: the implicit one is the slope of the re-settled cost", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 88), y = random_matrix<double>(2, net.width(net.depth()), 89);
    // Steps of h = 1e-5 of the unit: error h² of the third derivative over the first, (1/G)² ≲ 1e3, and rounding
    // ε C/(h C') of 1e-11 · 1e2: below 1e-6. A diode that turns within the step would show as 1e-2 or more.
    CHECK(worst_error(learn(net, sources, y, 1e-3 * make.unit_S).exact, slopes(net, 1e-5 * make.unit_S, sources, y)) <
          1e-6);
  }
}

TEST_CASE("resistive gradient: half squared drops give it up to the square of beta, one-sided up to beta",
          "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 88), y = random_matrix<double>(2, net.width(net.depth()), 89);
    std::vector<double> betas, centered, plus, minus;
    for (const double beta : {4e-3, 2e-3, 1e-3}) {  // small enough that no diode turns
      const Learned found = learn(net, sources, y, beta * make.unit_S);
      betas.push_back(beta);
      centered.push_back(worst_error(found.centered, found.exact));
      plus.push_back(worst_error(found.plus, found.exact));
      minus.push_back(worst_error(found.minus, found.exact));
    }
    CAPTURE(make.seed, centered, plus, minus);
    CHECK(order_of_convergence(centered, betas) == Approx(2).margin(0.1));
    CHECK(order_of_convergence(plus, betas) == Approx(1).margin(0.1));
    CHECK(order_of_convergence(minus, betas) == Approx(1).margin(0.1));
    CHECK(centered.back() < 1e-3);
  }
}

TEST_CASE("resistive solver: a nudge without a phase of minus beta is refused with its limit", "[resistive]") {
  const Net net = make_resistive({{6, 5, 3}, {3.0, 2.0}, Bias::rails, 1e-5, 0.7, 12});
  const ResistiveSolver solver(net);
  const Matrix<double> sources = make_sources(net, 2, 90), y = random_matrix<double>(2, 3, 91);
  const double limit = solver.nudge_limit_S();
  // Below what the outputs' own conductances would allow: the hidden nodes give way.
  CHECK(limit < net.node_conductance().rightCols(3).minCoeff());
  CHECK_NOTHROW(solver.solve(sources, {-limit * (1 - 1e-6), y}));
  CHECK_THROWS_AS(solver.solve(sources, {-limit * (1 + 1e-12), y}), NumericalFailure);
  CHECK_THROWS_WITH(solver.solve(sources, {-2 * limit, y}), Contains(">=") && Contains("minimum"));
  CHECK_NOTHROW(solver.solve(sources, {100 * limit, y}));
  // It is the limit: the dense second derivative, made symmetric by c_l, changes the sign of its smallest eigenvalue there.
  const auto smallest = [&](double beta) {
    Matrix<double> h(net.cols(), net.cols());
    for (Index j = 0; j < net.cols(); ++j) {
      const Matrix<double> one = Matrix<double>::Identity(net.cols(), net.cols()).row(j);
      h.row(j) = -resistive_jvp(net, one);
    }
    for (Index l = 1; l <= net.depth(); ++l) h.middleCols(net.columns(l).begin, net.width(l)) *= net.factor(l);
    h.bottomRightCorner(3, 3).diagonal().array() -= beta * net.factor(2);
    return symmetric_eigenvalues(h).minCoeff();
  };
  CHECK(smallest(limit * 0.999) > 0);
  CHECK(smallest(limit * 1.001) < 0);
  CoordinateDescent descent(net);
  descent.bind(sources);
  CHECK_NOTHROW(descent.nudge(-limit, y));
  CHECK_THROWS_WITH(descent.nudge(-net.node_conductance().rightCols(3).minCoeff(), y), Contains("minimum"));
}

TEST_CASE("resistive solver: floating nodes are found", "[resistive]") {
  Matrix<double> g1 = Matrix<double>::Ones(4, 3), g2 = Matrix<double>::Ones(3, 2);
  g1.col(1).setZero();
  const auto floating = [](const Matrix<double>& a, const Matrix<double>& b, Bias bias = Bias::none,
                           const Matrix<double>& rails = {}) {
    return Net({{a, rails}, {b, bias == Bias::none ? Matrix<double>() : Matrix<double>::Zero(rails.rows(), 2)}},
               {1.0, 1.0}, bias, 1.0)
        .floating_nodes();
  };
  CHECK(floating(g1, g2).empty());  // node 1 hangs on the outputs
  g2.row(1).setZero();
  REQUIRE(floating(g1, g2).size() == 1);
  CHECK(floating(g1, g2)[0].layer == 1);
  CHECK(floating(g1, g2)[0].node == 1);
  g2(1, 0) = 1;
  g2(0, 0) = g2(2, 0) = 0;  // node 1 and output 0 hang on each other alone
  CHECK(floating(g1, g2).size() == 2);
  CHECK(floating(g1, g2, Bias::current, Matrix<double>::Ones(1, 3)).size() == 2);  // a current source holds no voltage
  CHECK(floating(g1, g2, Bias::rails, Matrix<double>::Ones(2, 3)).empty());
  CHECK_THROWS_WITH(ResistiveSolver(Net({{g1, {}}, {g2, {}}}, {1.0, 1.0}, Bias::none, 0)),
                    Contains("node 1 of layer 1 floats"));
}
