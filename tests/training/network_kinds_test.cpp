// SPDX-License-Identifier: Apache-2.0
// What every kind of network must do: loops over the registries.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/nudged_law.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/learning/gradient.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

struct Bound {
  explicit Bound(const Config& config, Index copies = 2)
      : network(make_network<double>(config, network_plan(config, sizes_for(config)), Weights::digital)),
        dynamics(network->circuit(), network->rows(), copies),
        input(random_matrix<double>(network->rows(), network->circuit().inputs(), 5)) {
    dynamics.bind(input, ReadContext{});
  }
  Matrix<double> state(std::uint64_t seed, Index copies = 1) const {
    return random_matrix<double>(copies * network->rows(), network->cols(), seed);
  }
  std::unique_ptr<Network<double>> network;
  CircuitDynamics<double> dynamics;
  Matrix<double> input;
};

double dot(const Matrix<double>& a, const Matrix<double>& b) { return a.cwiseProduct(b).sum(); }

/// Sums of some hundred products: a few tens of roundings.
constexpr double kRounding = 1e-13;

}  // namespace

TEST_CASE("networks: parameters, groups and initial weights agree", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    const Config config = small(kind.name);
    const auto plan = network_plan(config, sizes_for(config));
    const auto parameters = plan->parameters();
    CHECK(plan->kind() == kind.name);
    CHECK(plan->couples_rows() == kind.couples_rows);
    std::vector<Matrix<float>> narrow;
    std::vector<Matrix<double>> wide, again;
    plan->initial(3, narrow);
    plan->initial(3, wide);
    plan->initial(4, again);
    REQUIRE(wide.size() == parameters.size());
    bool differs = false;
    for (std::size_t p = 0; p < wide.size(); ++p) {
      CAPTURE(parameters[p].name);
      CHECK(wide[p].rows() == parameters[p].shape.rows);
      CHECK(wide[p].cols() == parameters[p].shape.cols);
      CHECK((wide[p].cast<float>() - narrow[p]).norm() <= 1e-6F * narrow[p].norm());
      differs = differs || !(wide[p] == again[p]);
    }
    CHECK(differs);
    // Every column of every parameter belongs to one group, and one group is the read-out.
    std::vector<Index> columns(parameters.size());
    int readouts = 0;
    for (const ParameterGroup& group : plan->groups()) {
      columns[static_cast<std::size_t>(group.parameter)] += group.columns.count;
      readouts += group.readout ? 1 : 0;
    }
    for (std::size_t p = 0; p < parameters.size(); ++p) CHECK(columns[p] == parameters[p].shape.cols);
    const NodeReadout readout = plan->readout();
    CHECK(readouts == (readout.parameter >= 0 ? 1 : 0) + (readout.bias >= 0 ? 1 : 0));
    // The leak that step and rules use is the largest of a node.
    double largest = 0;
    const Bound bound(config);
    const Circuit<double>& circuit = bound.network->circuit();
    for (const Node& node : circuit.nodes()) largest = std::max(largest, circuit.leak(node));
    CHECK(kind.leak(config).at(circuit.damping().value) == Approx(largest).epsilon(1e-14));
  }
}

TEST_CASE("networks: J and its transpose are adjoint and derivatives of the force, part by part", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const std::string& setting : variants(kind.name)) {
      CAPTURE(kind.name, setting);
      Bound one(small(kind.name, {setting}));
      const Matrix<double> z = one.state(1), v = one.state(2), w = one.state(3);
      Linearization<double>& at = one.dynamics.linearize(z);
      Matrix<double> jv(z), jw(z), f(z), f0(z), ahead(z), behind(z);
      for (const Part part : {Part::all, Part::conservative, Part::nonconservative}) {
        at.jvp(v, jv, part);
        at.vjp(w, jw, part);
        CHECK(std::abs(dot(w, jv) - dot(v, jw)) <= kRounding * jv.norm() * w.norm());
        at.force(f0, part);
        one.dynamics.force(z, f, part);
        CHECK((f - f0).norm() <= kRounding * (1 + f.norm()));
        const double h = 1e-5;  // h² of truncation against rounding/h: both about 1e-10
        one.dynamics.force(z + h * v, ahead, part);
        one.dynamics.force(z - h * v, behind, part);
        CHECK(((ahead - behind) / (2 * h) - jv).norm() < 1e-7 * (1 + jv.norm()));
      }
    }
  }
}

TEST_CASE("networks: what solvers are told of states is what the circuit has", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    std::vector<std::vector<std::string>> all = {{}};
    if (find_row(kind.keys, "hopfield.form") != nullptr)
      all.push_back({"hopfield.form=projected", "hopfield.activation=relu"});
    if (kind.name == "resistive") all.push_back({"resistive.diode=ideal"});
    for (const std::vector<std::string>& settings : all) {
      CAPTURE(kind.name, settings);
      const Config config = small(kind.name, settings);
      const StateFacts facts = kind.states == nullptr ? StateFacts{} : kind.states(config);
      Bound one(config);
      Circuit<double>& circuit = one.network->circuit();
      const bool boxed =
          std::any_of(circuit.nodes().begin(), circuit.nodes().end(), [](const Node& node) { return node.bounded(); });
      CHECK(boxed == !facts.boxed.empty());
      Matrix<double> loads;
      CHECK(circuit.loads(loads) == facts.loads);
      CHECK((one.dynamics.direct() != nullptr) == facts.direct);
      CHECK((one.dynamics.capabilities().bath != nullptr) == facts.bath);
    }
  }
}

TEST_CASE("resistive: without diodes every solver of a linear circuit finds its equilibrium", "[networks][resistive]") {
  Matrix<double> expected;
  for (const char* solver : {"coordinate", "euler", "rk4", "anderson", "newton_gmres"}) {
    CAPTURE(solver);
    const Config config = small("resistive", {std::string("relaxation.solver=") + solver, "relaxation.tolerance=1e-10",
                                              "gradcheck.estimators=['ep']", "estimator=ep"});
    Bound one(config);
    SettleOptions options = gradient_options<double>(config, "ep").phases.free;
    options.step = RelaxationStep(config).of(one.network->circuit());
    options.max_steps = 20000;
    Matrix<double> z = Matrix<double>::Zero(one.network->rows(), one.network->cols());
    SettleWorkspace<double> scratch;
    CHECK(settle<double>(one.dynamics, z, options, scratch).status == Status::converged);
    if (expected.size() == 0) expected = z;
    // |F|/|z| of 1e-10 over the slowest decay of a few nodes, above 1e-4.
    CHECK((z - expected).norm() < 1e-6 * expected.norm());
  }
}

TEST_CASE("networks: copies and nodes are what the whole is", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    Bound one(small(kind.name, with_feedback(kind.name, "0.1")), 3);
    const Index rows = one.network->rows();
    const Matrix<double> z0 = one.state(1), z = one.state(2, 3);
    Linearization<double>& at = one.dynamics.linearize(z0);
    Matrix<double> all(z), single(z0), node(z), jt(z), nodes(z);
    one.dynamics.force(z, all);
    one.dynamics.force(z.middleRows(rows, rows), single);
    CHECK((all.middleRows(rows, rows) - single).norm() <= kRounding * single.norm());
    Matrix<double> law(z);
    REQUIRE(at.law(NudgedForm::transposed, z, law));
    at.vjp(z, jt);
    for (std::size_t j = 0; j < one.dynamics.nodes(); ++j) {
      const auto [begin, count] = one.dynamics.node_columns(j);
      const auto columns = [first = begin, width = count](const Matrix<double>& m) {
        return Matrix<double>(m.middleCols(first, width));
      };
      one.dynamics.node_force(z, node, j);
      CHECK((columns(node) - columns(all)).norm() <= kRounding * all.norm());
      REQUIRE(at.law(NudgedForm::transposed, z, node, static_cast<int>(j)));
      CHECK((columns(node) - columns(law)).norm() <= kRounding * law.norm());
      one.dynamics.node_vjp(z, node, j);
      CHECK((columns(node) - columns(jt)).norm() <= kRounding * jt.norm());
    }
  }
}

TEST_CASE("networks: a step of a sweep is force, box and norms of its node", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    std::vector<std::vector<std::string>> all{{}};
    if (of_samples(kind.name)) all.push_back({"hopfield.form=projected", "hopfield.activation=hard_sigmoid"});
    for (const std::vector<std::string>& settings : all) {
      CAPTURE(kind.name, settings.size());
      Bound one(small(kind.name, settings), 3);
      Matrix<double> z = one.state(2, 3);
      if (const Box<double>* box = one.dynamics.box()) box->project(z, {0, z.cols()});  // some units rest on a bound
      Matrix<double> f(z), moved = z, stepped = z;
      for (std::size_t j = 0; j < one.dynamics.nodes(); ++j) {
        const NodeMove got = one.dynamics.node_step(moved, f, j, 0.7);
        const NodeMove want = step_of_node<double>(one.dynamics, one.dynamics.box(), stepped, f, j, 0.7);
        CHECK((moved - stepped).norm() <= kRounding * (1 + stepped.norm()));
        CHECK(std::abs(got.state - want.state) <= kRounding * (1 + want.state));
        CHECK(std::abs(got.force - want.force) <= kRounding * (1 + want.force));
        CHECK(want.force > 0);
      }
    }
  }
}

TEST_CASE("networks: the contrastive rule of states side by side is the sum of theirs", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    Bound one(small(kind.name), 3);
    const Index rows = one.network->rows();
    const Matrix<double> z = one.state(2, 3);
    const std::vector<double> scales{1.5, -2.0, 0.25};
    Gradient<double> together(one.network->parameter_shapes()), apart(one.network->parameter_shapes());
    if (!one.dynamics.accumulate_energy_gradient(z, scales, together)) continue;
    for (std::size_t k = 0; k < scales.size(); ++k) {
      const Matrix<double> own = z.middleRows(static_cast<Index>(k) * rows, rows);
      REQUIRE(one.dynamics.accumulate_energy_gradient(own, scales[k], apart));
    }
    REQUIRE(apart.norm() > 0);
    for (int p = 0; p < apart.size(); ++p) {
      CHECK((together[p] - apart[p]).norm() <= kRounding * (1 + apart[p].norm()));
    }
  }
}

namespace {

/// The same system without its fused laws: what a user's Dynamics is.
class Plain final : public Dynamics<double> {
 public:
  explicit Plain(Dynamics<double>& inner) : inner_(&inner) {}
  Index rows() const override { return inner_->rows(); }
  Index cols() const override { return inner_->cols(); }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part) override { inner_->force(z, f, part); }
  Linearization<double>& linearize(ConstMatrixRef<double> z) override {
    at_.inner = &inner_->linearize(z);
    return at_;
  }

 private:
  struct At final : Linearization<double> {
    Linearization<double>* inner = nullptr;
    void force(MatrixRef<double> f, Part part) override { inner->force(f, part); }
    void jvp(ConstMatrixRef<double> v, MatrixRef<double> out, Part part) override { inner->jvp(v, out, part); }
    void vjp(ConstMatrixRef<double> u, MatrixRef<double> out, Part part) override { inner->vjp(u, out, part); }
    void accumulate(ConstMatrixRef<double> u, double scale, GradientSink<double>& sink,
                    MatrixRef<double> pulled) override {
      inner->accumulate(u, scale, sink, pulled);
    }
  };
  Dynamics<double>* inner_;
  At at_;
};

}  // namespace

namespace {

/// Jᵀ u with all that comes with it: gradients of the parameters and of the input.
struct Pulled {
  Matrix<double> state, input;
  Gradient<double> gradient;
};

Gradient<double> zero_gradient(const Config& config) {
  std::vector<ParameterShape> shapes;
  for (const auto& parameter : network_plan(config, sizes_for(config))->parameters()) shapes.push_back(parameter.shape);
  return Gradient<double>(shapes);
}

double apart(const Pulled& a, Pulled b) {
  double most = (a.state - b.state).norm() / (1 + a.state.norm());
  most = std::max(most, (a.input - b.input).norm() / (1 + a.input.norm()));
  const double size = 1 + a.gradient.norm();
  b.gradient.add(a.gradient, -1.0);
  return std::max(most, b.gradient.norm() / size);
}

}  // namespace

TEST_CASE("networks: pulled back at once, also from a point that was put aside", "[networks]") {
  int remembering = 0;
  for (const NetworkKind& kind : circuit_kinds()) {
    for (const std::string& setting : variants(kind.name)) {
      CAPTURE(kind.name, setting);
      const Config config = small(kind.name, {setting});
      Bound one(config);
      CircuitDynamics<double>& d = one.dynamics;
      const Matrix<double> u = one.state(9);
      const auto by = [&](auto act) {
        Pulled out{Matrix<double>(u), {}, zero_gradient(config)};
        const Matrix<double> before = d.input_gradient();
        act(out);
        out.input = d.input_gradient() - before;
        return out;
      };
      const auto apiece = [&](Linearization<double>& at) {
        return by([&](Pulled& out) {
          at.accumulate_parameter_gradient(u, 0.7, out.gradient);
          at.vjp(u, out.state);
        });
      };
      const auto at_once = [&](Linearization<double>& at) {
        return by([&](Pulled& out) { at.accumulate(u, 0.7, out.gradient, out.state); });
      };
      std::vector<Matrix<double>> points{one.state(1), one.state(2), one.state(3)}, forces;
      std::vector<Pulled> expected;
      for (const Matrix<double>& z : points) {
        Linearization<double>& at = d.linearize(z);
        expected.push_back(apiece(at));
        CHECK(apart(expected.back(), at_once(at)) <= kRounding);
        forces.emplace_back(z);
        d.force(z, forces.back());
      }
      // Twice: what is taken back must not spoil the next trajectory.
      for (int round = 0; round < 2; ++round) {
        Matrix<double> f = Matrix<double>::Constant(u.rows(), u.cols(), 3.0);
        KeptPoints<double>* kept = d.kept_points();
        if (kept == nullptr) continue;
        ++remembering;
        kept->remember(points[0], f, 0);
        CHECK((f - forces[0]).norm() <= kRounding * (1 + f.norm()));
        CHECK(apart(expected[0], expected[1]) > 1e-6);  // there is something to mix up
        for (std::size_t k = 1; k < points.size(); ++k) {
          kept->remember(points[k], f, k);
          CHECK((f - forces[k]).norm() <= kRounding * (1 + f.norm()));
        }
        for (std::size_t k = points.size(); k-- > 0;) CHECK(apart(expected[k], at_once(kept->recall(k))) <= kRounding);
      }
    }
  }
  CHECK(remembering > 0);
}

TEST_CASE("networks: fused laws of the nudged phase are those put together from force, jvp and vjp", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    Bound one(small(kind.name));
    Plain plain(one.dynamics);
    const Matrix<double> z0 = one.state(1), z = z0.replicate(2, 1) + 0.1 * one.state(2, 2);
    Matrix<double> fused(z), composed(z);
    NudgedLaw<double> law;
    law.corrected({&one.dynamics, &one.dynamics.linearize(z0), &z0}, z, fused);
    law.corrected({&plain, &plain.linearize(z0), &z0}, z, composed);
    CHECK((fused - composed).norm() <= kRounding * composed.norm());
    law.transposed({&one.dynamics, &one.dynamics.linearize(z0), &z0}, z, fused);
    law.transposed({&plain, &plain.linearize(z0), &z0}, z, composed);
    CHECK((fused - composed).norm() <= kRounding * composed.norm());
  }
}

TEST_CASE("networks: the conservative force is minus the gradient of the energy", "[networks]") {
  for (const NetworkKind& kind : circuit_kinds()) {
    CAPTURE(kind.name);
    Bound one(small(kind.name));
    const Matrix<double> z = one.state(1), v = one.state(2);
    Matrix<double> f(z);
    one.dynamics.force(z, f, Part::conservative);
    const double h = 1e-5;
    const auto ahead = one.dynamics.energy(z + h * v), behind = one.dynamics.energy(z - h * v);
    REQUIRE((ahead && behind));
    // Second differences of a piecewise quadratic: h², and rounding of E over h.
    CHECK((*ahead - *behind) / (2 * h) == Approx(-dot(f, v)).epsilon(1e-6));
  }
}
