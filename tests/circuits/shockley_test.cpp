// SPDX-License-Identifier: Apache-2.0
// Deep resistive networks whose diodes are Shockley's: closed forms, Kirchhoff's law, the ideal limit, and a whole step of
// equilibrium propagation beside ngspice's own diodes.
#include <cmath>
#include <fstream>
#include <limits>

#include "circuits/resistive/resistive_network.hpp"
#include "circuits/spice/exports.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/resistive/resistive_gradient.hpp"
#include "tests/support/resistive/shockley_solver.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Net = ResistiveNetwork;

Matrix<double> number(double value) { return Matrix<double>::Constant(1, 1, value); }

/// Networks of some volts on resistors of 10 µS and on ones of 1 S: diodes between their saturation current and amperes.
std::vector<ResistiveMake> diode_kinds() {
  std::vector<ResistiveMake> all = resistive_kinds();
  all[3].gains = {5.0, 0.5, 2.0, 1.3};
  return {all[1], all[2], all[3]};
}

struct Step {
  Matrix<double> plus, minus;
  ResistiveGradient gradient;
};

Step ep_step(const Net& net, const ShockleyDiode& diode, const Matrix<double>& sources, const Matrix<double>& y,
             double beta) {
  const ShockleySolver solver(net, diode);
  Step step{solver.solve(sources, {beta, y}), solver.solve(sources, {-beta, y}), zero_gradient(net)};
  accumulate_half_squares(net, sources, step.plus, step.minus, 0.5 / (beta * static_cast<double>(y.rows())),
                          step.gradient);
  return step;
}

double cost(const Net& net, const ShockleyDiode& diode, const Matrix<double>& sources, const Matrix<double>& y) {
  const Columns out = net.columns(net.depth());
  const Matrix<double> v = ShockleySolver(net, diode).solve(sources);
  return 0.5 * (v.middleCols(out.begin, out.count) - y).squaredNorm() / static_cast<double>(y.rows());
}

}  // namespace

TEST_CASE("shockley: one diode behind one resistor", "[resistive]") {
  // x → g → h (kept below 0: its diode conducts at v > 0) and an output that draws nothing.
  const double g = 2e-5;
  const Net net({{(Matrix<double>(2, 1) << g, 0).finished(), {}}, {number(1e-6), {}}}, {1.0, 1.0}, ResistiveBias::none,
                0);
  for (const ShockleyDiode diode : {ShockleyDiode{}, ShockleyDiode{1e-9, 1.8, 350}}) {
    for (const double x : {-3.0, 0.1, 0.6, 2.0, 40.0}) {
      CAPTURE(x, diode.emission);
      const Matrix<double> sources = doubled_input(number(x));
      const double h = ShockleySolver(net, diode).solve(sources)(0, 0);
      double low = std::min(x, 0.0) - 1, high = std::max(x, 0.0) + 1;  // g (x − v) − I(v) falls with v
      for (int n = 0; n < 200; ++n) {
        const double v = 0.5 * (low + high);
        (g * (x - v) - diode.saturation_A * std::expm1(v / diode.thermal_V()) > 0 ? low : high) = v;
      }
      CHECK(h == Approx(low).epsilon(1e-12).margin(1e-13));
    }
  }
  CHECK(ShockleyDiode{}.thermal_V() == Approx(0.025852).epsilon(1e-5));  // k T/q at 300 K
}

TEST_CASE("shockley: Kirchhoff's law holds, current and slope are derivatives of the energy", "[resistive]") {
  const ShockleyDiode diode{1e-12, 1.3, 310};
  for (const double sign : {1.0, -1.0}) {
    for (const double v : {-0.4, -0.01, 0.0, 0.02, 0.5}) {
      const double h = 1e-6;  // h² of truncation over (n V_T)², rounding over h
      const double energy = (diode.energy_W(v + h, sign) - diode.energy_W(v - h, sign)) / (2 * h);
      const double current = (diode.current_A(v + h, sign) - diode.current_A(v - h, sign)) / (2 * h);
      CHECK(diode.current_A(v, sign) == Approx(-energy).epsilon(1e-6).margin(1e-6 * diode.saturation_A * 10));
      CHECK(diode.slope_S(v, sign) ==
            Approx(-current).epsilon(1e-6).margin(1e-6 * diode.saturation_A / diode.thermal_V()));
    }
  }
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 3, 91), y = random_matrix<double>(3, net.width(net.depth()), 92);
    const ShockleySolver solver(net, diode);
    const double limit = ResistiveSolver(net).nudge_limit_S();
    for (const double beta : {0.0, 0.5, -0.5}) {
      const ResistiveNudge nudge{beta * limit, y};
      // A step below 64 roundings of the largest voltage, times the slope of the diodes over the node conductance: I/(n V_T G).
      const Matrix<double> v = solver.solve(sources, nudge);
      CHECK(solver.residual(sources, nudge, v) < 1e-9);
    }
  }
}

TEST_CASE("shockley: a sharp diode is an ideal one", "[resistive]") {
  for (const ResistiveMake& make : diode_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 93);
    const ResistiveState ideal = ResistiveSolver(net).solve(sources);
    double before = 0;
    for (const double emission : {1e-2, 1e-4}) {
      const Matrix<double> v = ShockleySolver(net, {1e-14, emission, 300}).solve(sources);
      const double error = (v - ideal.voltages).cwiseAbs().maxCoeff();
      // A conducting diode has n V_T ln(I/I_s) across it, ln below 40, and passes it on through gains of up to 3.
      CHECK(error < 40 * 3 * emission * 0.02586);
      CHECK((before == 0 || error < 0.1 * before));
      before = error;
    }
  }
}

TEST_CASE("shockley: the rule of half squared drops is the gradient of the cost", "[resistive]") {
  const ShockleyDiode diode{1e-12, 1.5, 300};
  for (const ResistiveMake& make : diode_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 94), y = random_matrix<double>(2, net.width(net.depth()), 95);
    const Step step = ep_step(net, diode, sources, y, 1e-4 * ResistiveSolver(net).nudge_limit_S());
    for (Index l = 1; l <= net.depth(); ++l) {
      const Matrix<double>& g = step.gradient[static_cast<std::size_t>(l - 1)].conductance;
      for (const Index i : {Index{0}, g.size() / 2, g.size() - 1}) {
        const double h = 1e-5 * make.unit_S;
        const auto moved = [&](double by) {
          ResistiveLayer layer = net.layer(l);
          layer.conductance.data()[i] += by;
          return cost(with_layer(net, l, layer), diode, sources, y);
        };
        const double base = net.layer(l).conductance.data()[i] >= h ? -h : 0;  // never below 0
        const double slope =
            base < 0 ? (moved(h) - moved(-h)) / (2 * h) : (4 * moved(h) - moved(2 * h) - 3 * moved(0)) / (2 * h);
        // β² and h² of truncation, 1e-8 of what the scales are; 1e-16/h and 1e-16/β of rounding, of voltages up to ten times theirs.
        CHECK(g.data()[i] == Approx(slope).epsilon(1e-4).margin(1e-6 * g.norm()));
      }
    }
  }
}

TEST_CASE("shockley: bad diodes are refused", "[resistive]") {
  const Net net = make_resistive({});
  CHECK_THROWS_WITH(ShockleySolver(net, {0, 1, 300}), Catch::Contains("saturation current = 0 (must be positive"));
  CHECK_THROWS_WITH(ShockleySolver(net, {1e-14, -1, 300}), Catch::Contains("emission coefficient = -1"));
  CHECK_THROWS_AS(ShockleySolver(net, {1e-14, 1, std::numeric_limits<double>::quiet_NaN()}), UserError);
}

TEST_CASE("spice: a whole step with Shockley's diodes is ngspice's", "[spice]") {
  if (!ngspice_installed()) return;
  // ngspice's k_B/q is older by up to 2e-6; currents of reverse-biased diodes are rounded off below −3 n V_T to within I_s; its
  // iteration ends at 1e-12.
  constexpr double spice = 5e-6;
  const ShockleyDiode diode{1e-12, 1.5, 300};
  for (const ResistiveMake& make : diode_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 1, 96), y = random_matrix<double>(1, net.width(net.depth()), 97);
    const double beta = 0.3 * ResistiveSolver(net).nudge_limit_S();
    const Step ours = ep_step(net, diode, sources, y, beta);
    const TemporaryDirectory folder;
    Matrix<double> states[2];
    for (const int side : {0, 1}) {
      const ResistiveNudge nudge{side == 0 ? beta : -beta, y};
      run_ngspice(folder.path(), resistive_netlist(net, sources, nudge, "nodes.data", 1e12, diode));
      std::ifstream data(folder / "nodes.data");
      double value = 0;
      REQUIRE(data >> value);  // what wrdata takes for a scale
      states[side].resize(1, net.cols());
      for (Index i = 0; i < net.cols(); ++i) REQUIRE(data >> states[side](0, i));
    }
    CHECK(relative_error(states[0], ours.plus) < spice);
    CHECK(relative_error(states[1], ours.minus) < spice);
    ResistiveGradient theirs = zero_gradient(net);
    accumulate_half_squares(net, sources, states[0], states[1], 0.5 / beta, theirs);
    for (std::size_t l = 0; l < theirs.size(); ++l) {
      // The phases differ by β over conductances: the error of voltages counts some ten times as much.
      CHECK(relative_error(theirs[l].conductance, ours.gradient[l].conductance) < 50 * spice);
    }
    int conducting = 0;
    for (Index j = 0; j < net.columns(net.depth()).begin; ++j) {
      const double sign = j - net.columns(1).begin < net.nodes_above_zero(1) ? 1 : -1;
      conducting += sign * ours.plus(0, j) < -0.1 ? 1 : 0;
    }
    CHECK(conducting > 0);  // or the diodes were not tried
  }
}
