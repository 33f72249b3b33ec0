// SPDX-License-Identifier: Apache-2.0
// network.kind = resistive: its circuit of terms is the circuit of circuits/resistive, in variables without amplifiers.
#include <map>

#include "circuits/digital_matrix.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "sim/settle.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/resistive/coordinate_descent.hpp"
#include "tests/support/resistive/resistive_energy.hpp"
#include "tests/support/resistive/resistive_gradient.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/network.hpp"
#include "training/models/resistive/resistive_plan.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Net = ResistiveNetwork;

struct Collected final : GradientSink<double> {
  std::map<int, Matrix<double>> gradient;
  void accumulate(int parameter, Columns columns, double scale, ConstMatrixRef<double> x,
                  ConstMatrixRef<double> y) override {
    Matrix<double>& sum = gradient[parameter];
    if (sum.size() == 0) sum = Matrix<double>::Zero(x.cols(), columns.count);
    sum += scale * x.transpose() * y;
  }
  void accumulate(int, double, ConstMatrixRef<double>) override { FAIL("a resistor learns from outer products"); }
};

/// The network of a made-up circuit, with its states as voltages v and as u = A_l ⋯ A_{L−1} v_l.
struct Made {
  explicit Made(const ResistiveMake& make, Index samples)
      : net(make_resistive(make)), x(random_matrix<double>(samples, net.width(0) / 2, 101)) {
    ResistiveShape shape;
    shape.features = net.width(0) / 2;
    for (Index l = 1; l <= net.depth(); ++l) shape.widths.push_back(net.width(l));
    shape.gains = make.gains;
    shape.bias = make.bias;
    shape.rail = make.rail_V;
    shape.rows = samples;
    plan = std::make_shared<ResistivePlan>(shape);
    Maps<double> maps;
    for (int l = 1; l <= shape.layers(); ++l) {
      maps.push_back(std::make_unique<DigitalMatrix<double>>(net.layer(l).conductance));
    }
    for (int l = 1; l <= shape.layers() && shape.bias != ResistiveBias::none; ++l) {
      const double unit = shape.bias == ResistiveBias::current ? plan->amplification(l) : 1;
      maps.push_back(std::make_unique<DigitalMatrix<double>>(unit * net.layer(l).bias));
    }
    network = std::make_unique<Network<double>>(plan, std::move(maps));
    dynamics = std::make_unique<CircuitDynamics<double>>(network->circuit(), samples, 2);
    dynamics->bind(x, ReadContext{});
    scale.resize(1, net.cols());
    for (int l = 1; l <= shape.layers(); ++l) {
      scale.middleCols(plan->columns(l).begin, plan->columns(l).count).setConstant(plan->amplification(l));
    }
  }
  Matrix<double> sources() const { return doubled_input(x); }
  Matrix<double> u(const Matrix<double>& v) const { return (v.array().rowwise() * scale.row(0).array()).matrix(); }
  Matrix<double> v(const Matrix<double>& state) const {
    return (state.array().rowwise() / scale.row(0).array()).matrix();
  }

  Net net;
  Matrix<double> x, scale;
  std::shared_ptr<ResistivePlan> plan;
  std::unique_ptr<Network<double>> network;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
};

SettleOptions descent(int sweeps, double tolerance = 0) {
  SettleOptions options;
  options.solver = SettleSolver::coordinate;
  options.max_steps = sweeps;
  options.tolerance = tolerance;
  return options;
}

}  // namespace

TEST_CASE("resistive plan: the force is Kirchhoff's law, minus the slope of the energy, J symmetric and its derivative",
          "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    Made made(make, 2);
    const Matrix<double> v = make_state(made.net, 2, 102);  // off every bound
    const Matrix<double> u = made.u(v);
    Matrix<double> f(u), slope(u), node(u);
    made.dynamics->force(u, f);
    // √(c_l/c_L) I_l: sums of some ten products, of currents that cancel.
    const Matrix<double> expected = made.u(resistive_currents(made.net, made.sources(), v));
    CHECK(relative_error(f, expected) < 1e-13);
    const double energy = resistive_energy(made.net, made.sources(), v).sum();
    CHECK(*made.dynamics->energy(u) + 0.0 == Approx(energy / made.net.factor(made.net.depth())).epsilon(1e-12));
    for (Index i = 0; i < u.size(); ++i) {  // E is quadratic: exact but for rounding, ε E/(h |F|)
      Matrix<double> up = u, down = u;
      up.data()[i] += 0.5;
      down.data()[i] -= 0.5;
      slope.data()[i] = *made.dynamics->energy(up) - *made.dynamics->energy(down);
    }
    CHECK(relative_error(f, -slope) < 1e-10);
    for (std::size_t j = 0; j < made.dynamics->nodes(); ++j) {
      made.dynamics->node_force(u, node, j);
      const auto [begin, count] = made.dynamics->node_columns(j);
      CHECK(relative_error(node.middleCols(begin, count), f.middleCols(begin, count)) < 1e-13);
    }
    Linearization<double>& at = made.dynamics->linearize(u);
    check_adjoint(at, 2, made.net.cols());
    const Matrix<double> p = random_matrix<double>(2, made.net.cols(), 103);
    Matrix<double> ahead(u), jvp(u);
    made.dynamics->force(u + p, ahead);
    at.jvp(p, jvp);
    CHECK(relative_error(jvp, ahead - f) < 1e-11);  // linear
    const Matrix<double>* loads = made.dynamics->loads();
    REQUIRE(loads != nullptr);
    CHECK(relative_error(*loads, made.net.node_conductance()) < 1e-14);
  }
}

TEST_CASE("resistive plan: projected steps below 1/G settle in the steady state, and so do exact sweeps",
          "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    Made made(make, 2);
    const ResistiveSolver solver(made.net);
    const Matrix<double> expected = made.u(solver.solve(made.sources()).voltages);
    Matrix<double> u = Matrix<double>::Zero(2, made.net.cols()), f(u);
    const double step = 0.95 / made.network->circuit().largest_load();
    double before = *made.dynamics->energy(u);
    for (int n = 0; n < 200000; ++n) {
      made.dynamics->force(u, f);
      u += step * f;
      if (const Box<double>* box = made.dynamics->box()) box->project(u, {0, u.cols()});
      if (n >= 50) continue;
      const double now = *made.dynamics->energy(u);
      CHECK(now <= before + 1e-12 * std::abs(before));  // projected gradient steps below 2/λ never climb
      before = now;
    }
    CHECK(relative_error(u, expected) < 1e-10);
    // There nothing that can move is pushed, and J holds what the diodes hold.
    Linearization<double>& at = made.dynamics->linearize(expected);
    at.force(f);
    CHECK(f.norm() < 1e-11 * made.network->circuit().largest_load() * made.plan->amplification(0) * made.x.norm());
    Matrix<double> descended = Matrix<double>::Zero(2, made.net.cols());
    SettleWorkspace<double> scratch;
    settle<double>(*made.dynamics, descended, descent(5000), scratch);
    CHECK(relative_error(descended, expected) < 1e-11);
  }
}

TEST_CASE("resistive plan: a sweep is that of the published coordinate descent, with and without a nudge",
          "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    Made made(make, 3);
    const Columns out = made.net.columns(made.net.depth());
    const Matrix<double> y = random_matrix<double>(3, out.count, 107);
    CoordinateDescent published(made.net);
    published.bind(made.sources());
    Matrix<double> v = make_state(made.net, 3, 108), free = made.u(v);
    published.sweep(v, 3);
    SettleWorkspace<double> scratch;
    settle<double>(*made.dynamics, free, descent(3), scratch);
    CHECK(relative_error(made.v(free), v) < 1e-12);
    // Both nudged phases from there, and the gradient of the two of them.
    const double beta = 0.2 * ResistiveSolver(made.net).nudge_limit_S();
    Matrix<double> plus = v, minus = v;
    published.nudge(beta, y);
    published.sweep(plus, 4);
    published.nudge(-beta, y);
    published.sweep(minus, 4);
    ResistiveGradient contrast = zero_gradient(made.net);
    accumulate_half_squares(made.net, made.sources(), plus, minus, 0.5 / beta, contrast);
    EstimatorOptions options;
    options.free = descent(3);
    options.nudged_steps = 4;
    options.beta = beta;
    SquaredError<double> cost(out);
    cost.bind(y);
    for (const char* name : {"ep_contrastive", "ep", "aep_transposed"}) {
      CAPTURE(name);
      Matrix<double> state = made.u(make_state(made.net, 3, 108)), initial = Matrix<double>::Zero(3, made.net.cols());
      Collected sink;
      Example<double> task{made.dynamics.get(), &cost, &state, &initial, 1.0, &sink};
      const auto estimator = make_estimator<double>(name, options);
      estimator->estimate(task);
      const Matrix<double> adjoint = made.u(minus - plus) / (2 * beta);
      if (std::string(name) != "aep_transposed") {  // anchored: the residual of three sweeps is taken off its phases
        CHECK(relative_error(estimator->adjoint(), adjoint) < 1e-9);  // 1e-13 of voltages over their change
      }
      if (std::string(name) != "ep_contrastive") continue;
      for (int l = 1; l <= static_cast<int>(made.net.depth()); ++l) {
        const auto& [g, bias] = contrast[static_cast<std::size_t>(l - 1)];
        CHECK(relative_error(sink.gradient.at(made.plan->link(l)), g) < 1e-9);
        if (make.bias == ResistiveBias::none) continue;
        const double unit = make.bias == ResistiveBias::current ? made.plan->amplification(l) : 1;
        CHECK(relative_error(unit * sink.gradient.at(made.plan->bias(l)), bias) < 1e-9);
      }
    }
  }
}

TEST_CASE("resistive plan: the local rule with the adjoint is the exact gradient", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    Made made(make, 2);
    const Columns out = made.net.columns(made.net.depth());
    const Matrix<double> y = random_matrix<double>(2, out.count, 107);
    const ResistiveState star = ResistiveSolver(made.net).solve(made.sources());
    const Matrix<double> adjoint = resistive_adjoint(made.net, star, y);
    ResistiveGradient exact = zero_gradient(made.net);
    accumulate_mixed(made.net, made.sources(), star.voltages, adjoint, 1.0, exact);
    Linearization<double>& at = made.dynamics->linearize(made.u(star.voltages));
    // Jᵀ a = −∂C/∂u with a = c_L · (the adjoint) in u.
    const Matrix<double> a = made.net.factor(made.net.depth()) * made.u(adjoint);
    Matrix<double> pulled(a), cost = Matrix<double>::Zero(2, made.net.cols());
    at.vjp(a, pulled);
    cost.middleCols(out.begin, out.count) = star.voltages.middleCols(out.begin, out.count) - y;
    CHECK(relative_error(pulled, -cost) < 1e-10);
    Collected sink;
    at.accumulate_parameter_gradient(a, 1.0, sink);
    for (int l = 1; l <= static_cast<int>(made.net.depth()); ++l) {
      const auto& [g, bias] = exact[static_cast<std::size_t>(l - 1)];
      CHECK(relative_error(sink.gradient.at(made.plan->link(l)), g) < 1e-12);
      if (make.bias == ResistiveBias::none) continue;
      const double unit = make.bias == ResistiveBias::current ? made.plan->amplification(l) : 1;
      CHECK(relative_error(unit * sink.gradient.at(made.plan->bias(l)), bias) < 1e-12);
    }
  }
}

TEST_CASE("resistive plan: the contrastive rule is minus the derivative of the energy", "[resistive]") {
  for (const ResistiveMake& make : resistive_kinds()) {
    CAPTURE(make.seed);
    Made made(make, 2);
    const Matrix<double> u = made.u(make_state(made.net, 2, 102));
    Collected sink;
    REQUIRE(made.dynamics->accumulate_energy_gradient(u, 1.0, sink));
    for (int p = 0; p < made.network->parameters(); ++p) {
      const Matrix<double> weights = made.network->map(p).weights();
      for (const Index i : {Index{0}, weights.size() - 1}) {
        const auto energy = [&](double step) {
          Matrix<double> moved = weights;
          moved.data()[i] += step;
          made.network->map(p).program(moved);
          made.dynamics->bind(made.x, ReadContext{});
          return *made.dynamics->energy(u);
        };
        const double h = make.unit_S;  // linear in a weight
        const double slope = (energy(h) - energy(-h)) / (2 * h);
        energy(0);
        const double scale = sink.gradient.at(p).norm();
        CHECK(std::abs(sink.gradient.at(p).data()[i] + slope) <
              1e-11 * scale * std::sqrt(static_cast<double>(weights.size())));
      }
    }
  }
}

TEST_CASE("resistive plan: a nudge beyond the load of an output has no minimum", "[resistive]") {
  Made made({{6, 3}, {2.0}, ResistiveBias::rails, 1.0, 0.7, 13}, 1);
  const Matrix<double> y = random_matrix<double>(1, 3, 5);
  SquaredError<double> cost(made.net.columns(1));
  cost.bind(y);
  const double limit = made.net.node_conductance().minCoeff();
  for (const SettleSolver solver : {SettleSolver::euler, SettleSolver::coordinate}) {
    for (const double share : {0.99, 1.01}) {
      CAPTURE(to_string(solver), share);
      EstimatorOptions options;
      options.free.solver = solver;
      options.free.step = options.step = 0.4 / made.network->circuit().largest_load();
      options.beta = share * limit;
      Matrix<double> state = Matrix<double>::Zero(1, 3), initial = state;
      Collected sink;
      Example<double> task{made.dynamics.get(), &cost, &state, &initial, 1.0, &sink};
      const auto estimator = make_estimator<double>("ep", options);
      if (share < 1) {
        CHECK_NOTHROW(estimator->estimate(task));
      } else {
        CHECK_THROWS_WITH(estimator->estimate(task), Catch::Contains("without a minimum to settle in: its load is"));
      }
    }
  }
}
