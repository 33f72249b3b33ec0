// SPDX-License-Identifier: Apache-2.0
// Deep resistive networks with node capacitances: the force, its derivatives, and where it settles.
#include <catch2/catch.hpp>
#include <map>

#include "circuits/resistive/resistive_dynamics.hpp"
#include "circuits/resistive/resistive_gradient.hpp"
#include "sim/settle.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/linearization_checks.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Net = ResistiveNetwork<double>;

struct Collected final : GradientSink<double> {
  std::map<int, Matrix<double>> gradient;
  void accumulate(int, Columns, double, ConstMatrixRef<double>, ConstMatrixRef<double>) override { FAIL("no factors"); }
  void accumulate(int parameter, double scale, ConstMatrixRef<double> g) override {
    Matrix<double>& sum = gradient[parameter];
    if (sum.size() == 0) sum = Matrix<double>::Zero(g.rows(), g.cols());
    sum += scale * g;
  }
};

Matrix<double> scaled(const ResistiveDynamics<double>& dynamics, const Matrix<double>& v) {
  return (v.array().rowwise() * dynamics.scale().row(0).array()).matrix();
}

}  // namespace

TEST_CASE("resistive dynamics: the force is minus the slope of the energy, J symmetric and its derivative",
          "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    ResistiveDynamics<double> dynamics(net, 2);
    dynamics.bind(make_sources(net, 2, 101));
    const Matrix<double> u = scaled(dynamics, make_state(net, 2, 102));  // off every bound
    Matrix<double> f(2, net.cols()), slope(2, net.cols());
    dynamics.force(u, f);
    for (Index i = 0; i < u.size(); ++i) {  // E is quadratic: exact but for rounding, ε E/(h |F|)
      Matrix<double> up = u, down = u;
      up.data()[i] += 0.5;
      down.data()[i] -= 0.5;
      slope.data()[i] = *dynamics.energy(up) - *dynamics.energy(down);
    }
    CHECK(relative_error(f, -slope) < 1e-11);
    Linearization<double>& at = dynamics.linearize(u);
    check_adjoint(at, 2, net.cols());
    const Matrix<double> p = random_matrix<double>(2, net.cols(), 103);
    Matrix<double> ahead(2, net.cols()), jvp(2, net.cols());
    dynamics.force(u + p, ahead);
    at.jvp(p, jvp);
    CHECK(relative_error(jvp, ahead - f) < 1e-11);  // linear
  }
}

TEST_CASE("resistive dynamics: projected steps below 1 settle in the steady state", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    ResistiveDynamics<double> dynamics(net, 2);
    const Matrix<double> sources = make_sources(net, 2, 104);
    dynamics.bind(sources);
    const Matrix<double> expected = scaled(dynamics, ResistiveSolver(net).solve(sources).voltages);
    Matrix<double> u = Matrix<double>::Zero(2, net.cols()), f(2, net.cols());
    double before = *dynamics.energy(u);
    for (int n = 0; n < 200000; ++n) {
      dynamics.force(u, f);
      u += 0.95 * f;
      dynamics.project(u);
      if (n >= 50) continue;
      const double now = *dynamics.energy(u);
      CHECK(now <= before + 1e-13 * std::abs(before));  // projected gradient steps below 2/λ never climb
      before = now;
    }
    CHECK(relative_error(u, expected) < 1e-10);
    // There nothing that can move is pushed, and J holds what the diodes hold.
    Linearization<double>& at = dynamics.linearize(expected);
    at.force(f);
    CHECK(f.norm() < 1e-12 * net.gain(0) * sources.norm());
  }
}

TEST_CASE("resistive dynamics: settle() runs it where no diode conducts", "[resistive]") {
  const Net net = make_resistive({{6, 3}, {2.0}, ResistiveBias::rails, 1e-5, 0.7, 13});
  ResistiveDynamics<double> dynamics(net, 3);
  const Matrix<double> sources = make_sources(net, 3, 105);
  dynamics.bind(sources);
  Matrix<double> u = Matrix<double>::Zero(3, 3);
  SettleOptions options;
  options.step = 0.9;
  options.max_steps = 2000;
  options.tolerance = 1e-13;
  SettleWorkspace<double> scratch;
  CHECK(settle<double>(dynamics, u, options, scratch).status == Status::converged);
  CHECK(relative_error(u, ResistiveSolver(net).solve(sources).voltages) < 1e-11);
}

TEST_CASE("resistive dynamics: the local rule with the adjoint is the exact gradient", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    const Net net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 2, 106), y = random_matrix<double>(2, net.width(net.depth()), 107);
    const ResistiveState star = ResistiveSolver(net).solve(sources);
    const Matrix<double> adjoint = resistive_adjoint(net, star, y);
    ResistiveGradient<double> exact = zero_gradient(net);
    accumulate_mixed<double>(net, sources, star.voltages, adjoint, 1.0, exact);
    ResistiveDynamics<double> dynamics(net, 2);
    dynamics.bind(sources);
    Linearization<double>& at = dynamics.linearize(scaled(dynamics, star.voltages));
    // Jᵀ a = −∂C/∂u with a = G_ref · (the adjoint in u).
    const Matrix<double> a = dynamics.reference_conductance_S() * scaled(dynamics, adjoint);
    Matrix<double> pulled(2, net.cols()), cost = Matrix<double>::Zero(2, net.cols());
    at.vjp(a, pulled);
    const Columns out = net.columns(net.depth());
    cost.middleCols(out.begin, out.count) = star.voltages.middleCols(out.begin, out.count) - y;
    cost.array().rowwise() /= dynamics.scale().row(0).array();
    CHECK(relative_error(pulled, -cost) < 1e-10);
    Collected sink;
    at.accumulate_parameter_gradient(a, 1.0, sink);
    for (Index l = 1; l <= net.depth(); ++l) {
      const auto& [g, bias] = exact[static_cast<std::size_t>(l - 1)];
      CHECK(relative_error(sink.gradient.at(static_cast<int>(2 * (l - 1))), g) < 1e-12);
      if (net.bias() == ResistiveBias::none) continue;
      CHECK(relative_error(sink.gradient.at(static_cast<int>(2 * (l - 1) + 1)), bias) < 1e-12);
    }
  }
}
