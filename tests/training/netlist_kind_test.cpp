// SPDX-License-Identifier: Apache-2.0
// network.kind = netlist: its own solutions, the adjoint network, equilibrium propagation and coupled learning on circuits that are drawn,
// against central differences of its own operating points and of ngspice's.
#include <cmath>

#include "circuits/crossbar/crossbar_spec.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/drawn_circuit.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// A passive divider with diodes; one whose output lies between two nodes; an amplifier; a transistor that follows; expressions and
/// bipolar transistors; all kinds.
const std::vector<Drawn>& circuits() {
  static const std::vector<Drawn> all = {
      {"bridge\nVa a 0 0\nVb b 0 0\nR1 a x 1k\nR2 b x 2k\nR3 x 0 3k\nR4 x y 1.5k\nR5 y 0 4k\nD1 y 0 dd\nD2 0 x dd\n"
       ".model dd D(is=1n n=1.2)\n",
       {"va", "vb"},
       {"y"}},
      {"between two nodes\nVa a 0 0\nVb b a 0\nR1 a x 1k\nR2 b y 2k\nR3 x y 5k\nR4 x 0 3k\nR5 y 0 800\nIc 0 y 0.1m\nVc "
       "c 0 0.3\n"
       "R6 c x 2k\n",
       {"va", "vb"},
       {"x,y", "y"},
       {"r*", "ic", "vc"}},
      {"bidirectional amplifier\nVa a 0 0\nVb b 0 0\nR1 a n 10k\nR2 b n 20k\nD1 0 n dd\nEa e 0 n 0 4\nVs e t 0\nFa n 0 "
       "Vs 0.25\n"
       "R3 t o 20k\nR4 o 0 30k\nVc c 0 0.3\nR5 c t 15k\nR6 c n 40k\nIc 0 n 5u\n.model dd D(is=1n)\n",
       {"va", "vb"},
       {"o"},
       {"r*", "vc", "ic"}},
      {"buffer\nVa a 0 0\nVb b 0 0\nR1 a n 10k\nR2 b n 20k\nE1 e 0 n 0 2\nR3 e o 20k\nR4 o n 30k\nR5 o 0 9k\n",
       {"va", "vb"},
       {"o"}},
      {"transistors\nVa a 0 0\nVb b 0 0\nVg g 0 1.2\nR1 a x 10k\nM1 x g y 0 nn W=4u L=2u\nR2 y 0 20k\nM2 z x 0 0 nn "
       "W=2u L=1u\n"
       "Vdd d 0 2\nR3 d z 50k\nR4 b x 30k\n.model nn NMOS(VTO=0.4 KP=80u LAMBDA=0.03)\n",
       {"va", "vb"},
       {"z", "y"},
       {"r*", "vg"}},
      {"a current by an expression, body effect, a bipolar transistor, an inductor, and a diode that breaks down\n"
       "Va a 0 0\nVb b 0 0\nR1 a x 10k\nR2 b y 20k\nR3 y x 30k\nB1 o 0 i=0.1m*tanh(3*v(x,y))\nL1 x z 1m\nR4 z 0 "
       "40k\nVd d 0 "
       "2\nM1 d x s 0 nm W=4u L=2u\nR5 s y 50k\nI1 0 y 60u\nQ1 d y o nn\nR6 o 0 5k\nR7 o d 20k\nD1 0 o dz\n.model nm "
       "nmos(vto=0.1 kp=80u gamma=0.5 phi=0.8)\n.model nn npn(is=1e-15 bf=60 vaf=40 ikf=1m)\n.model dz d(is=1n bv=1.6 "
       "ibv=20u "
       "nbv=2)\n",
       {"va", "vb"},
       {"o"},
       {"r*", "i1"}},
      {"a voltage by a current, a voltage by an expression, and an expression of a current\n"
       "Va a 0 0\nVb b 0 0\nR1 a x 10k\nVs x y 0\nR2 y 0 20k\nH1 h 0 Vs 5k\nR3 h o 10k\nB1 q 0 v={tanh(2*v(y))}\n"
       "R4 q o 15k\nB2 o 0 i={0.3*i(Vs)*(1+500*i(Vs))}\nR5 o b 30k\nVc c 0 0.2\nR6 c h 8k\nR7 c o 40k\n",
       {"va", "vb"},
       {"o"},
       {"r*", "vc"}},
      {"a junction transistor and a diode with recombination\n"
       "Va a 0 0\nVb b 0 0\nR1 a x 10k\nVd d 0 2\nR2 d e 5k\nJ1 e x s jn\nR3 s 0 3k\nD1 s o dr\nR4 o 0 20k\nR5 o b "
       "30k\nR6 x "
       "0 25k\n.model jn njf(vto=-1.2 beta=0.8m lambda=5m is=1f rd=20 rs=10)\n.model dr d(is=1p n=1.2 isr=5n nr=2.1 "
       "vj=0.7 "
       "m=0.4 rs=2)\n",
       {"va", "vb"},
       {"o"}},
      {"bases whose resistances fall\n"
       "Va a 0 0\nVb b 0 0\nR1 a x 2k\nVd d 0 2\nR2 d c 3k\nI1 0 x 60u\nQ1 c x e n1\nR3 e 0 500\nR4 d y 8k\nQ2 c y f "
       "n2\nR5 f "
       "b 700\n.model n1 npn(is=1e-15 bf=80 rb=2k rbm=100 irb=20u)\n.model n2 npn(is=1e-15 bf=60 ikf=0.3m vaf=30 rb=3k "
       "rbm=200)\n",
       {"va", "vb"},
       {"c", "f"},
       {"r*", "i1"}},
  };
  return all;
}

/// ∂C/∂number by central differences with steps of h of the number: h² of curvature against rounding/h of the solutions.
Eigen::VectorXd central(Bound& bound, double h) {
  std::vector<double> all;
  for (int p = 0; p < bound.network->parameters(); ++p) {
    const Matrix<double> kept = bound.network->map(p).weights();
    for (Index i = 0; i < kept.size(); ++i) {
      double value[2];
      const double step = h * std::max(1.0, std::abs(kept.data()[i]));
      for (const int side : {0, 1}) {
        Matrix<double> moved = kept;
        moved.data()[i] += side == 0 ? step : -step;
        bound.network->map(p).program(moved);
        bound.rebind();
        value[side] = bound.cost->value(bound.solved());
      }
      all.push_back((value[0] - value[1]) / (2 * step));
    }
    bound.network->map(p).program(kept);
  }
  bound.rebind();
  return Eigen::Map<Eigen::VectorXd>(all.data(), static_cast<Index>(all.size()));
}

}  // namespace

TEST_CASE("netlist kind: a direct solution is where the force is 0, nudged and held", "[netlist]") {
  for (const Drawn& drawn : circuits()) {
    CAPTURE(drawn.text);
    Bound bound(drawn);
    Matrix<double> z = bound.solved(), f(z);
    bound.dynamics->force(z, f);
    // Newton's last step is of the square of 1e-9; slopes of conducting diodes are some tens of the unit.
    CHECK(f.cwiseAbs().maxCoeff() < 1e-12 * (1 + z.cwiseAbs().maxCoeff()));
    const Columns outputs = bound.network->circuit().nodes().back().columns;
    DirectLoad<double> load{DirectLoad<double>::Kind::driven, outputs, Matrix<double>::Constant(1, outputs.count, 0.05),
                            0.3};
    REQUIRE(bound.dynamics->direct()->solve(z, load).status == Status::converged);
    bound.dynamics->force(z, f);
    f.middleCols(outputs.begin, outputs.count).array() +=
        0.05 - 0.3 * z.middleCols(outputs.begin, outputs.count).array();
    CHECK(f.cwiseAbs().maxCoeff() < 1e-12 * (1 + z.cwiseAbs().maxCoeff()));
    load.kind = DirectLoad<double>::Kind::held;
    REQUIRE(bound.dynamics->direct()->solve(z, load).status == Status::converged);
    CHECK((z.middleCols(outputs.begin, outputs.count).array() - 0.05).abs().maxCoeff() < 1e-14);
    bound.dynamics->force(z, f);
    if (outputs.begin > 0)
      CHECK(f.leftCols(outputs.begin).cwiseAbs().maxCoeff() < 1e-12 * (1 + z.cwiseAbs().maxCoeff()));
  }
}

TEST_CASE("netlist kind: the adjoint network gives the slope of the cost", "[netlist]") {
  for (const Drawn& drawn : circuits()) {
    CAPTURE(drawn.text);
    Bound bound(drawn);
    const Eigen::VectorXd adjoint = flat(bound.gradient("adjoint", 0));
    CHECK(relative(flat(bound.gradient("implicit_dense", 0)), adjoint) < 1e-10);  // the same by J of the reduced state
    // h² of third derivatives of order 1 (junctions: (h V/V_t)² ≈ 1e-7) against 1e-12/h of the solutions' last step.
    CHECK(relative(central(bound, 1e-5), adjoint) < 1e-6);
  }
}

TEST_CASE("netlist kind: equilibrium propagation is right where elements are reciprocal and biased where not",
          "[netlist]") {
  for (const Drawn& drawn : circuits()) {
    CAPTURE(drawn.text);
    Bound bound(drawn);
    const Eigen::VectorXd adjoint = flat(bound.gradient("adjoint", 0));
    const double near = relative(flat(bound.gradient("ep", 1e-4)), adjoint);
    if (bound.plan->reciprocal()) {
      CHECK(near < 1e-6);  // β² of curvatures, and rounding/β
      CHECK(relative(flat(bound.gradient("ep_contrastive", 1e-3)), adjoint) < 1e-4);
      CHECK(relative(flat(bound.gradient("ep", 0.2)), adjoint) < 0.2);
    } else {
      CHECK(near > 1e-3);
      CHECK_THROWS_WITH(bound.gradient("ep_contrastive", 1e-3), Catch::Contains("without an energy"));
    }
  }
}

TEST_CASE("netlist kind: coupled learning follows the power that holds the output", "[netlist]") {
  // One output: K is a number, the direction exact, and of two resistors K = g₁ + g₂ in units of the mean g.
  Bound divider({"divider\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b y 2k\n", {"va", "vb"}, {"y"}});
  const Eigen::VectorXd exact = flat(divider.gradient("adjoint", 0));
  const Eigen::VectorXd coupled = flat(divider.gradient("coupled_learning", 1e-5));
  CHECK(relative(coupled, 2.0 * exact) < 1e-4);  // O(η), and the shunt of 1e-12 S
  // Two outputs that are loaded differently: biased, and still downhill here.
  Bound two(circuits()[1]);
  const double agreement = cosine(flat(two.gradient("coupled_learning", 1e-4)), flat(two.gradient("adjoint", 0)));
  CHECK(agreement < 0.9999);
  CHECK(agreement > 0.5);
  Bound transistors(circuits()[3]);
  CHECK_THROWS_WITH(transistors.gradient("coupled_learning", 1e-3), Catch::Contains("without an energy"));
}

TEST_CASE("netlist kind: the product of two amplitudes is the gradient where frequencies are low", "[netlist]") {
  for (const Drawn& drawn : circuits()) {
    CAPTURE(drawn.text);
    Bound bound(drawn);
    const Eigen::VectorXd adjoint = flat(bound.gradient("adjoint", 0));
    const auto at = [&](double omega) {
      bound.error_frequency = omega;
      return flat(bound.gradient("frequency", 0));
    };
    if (bound.plan->ports().state_without_charge) {
      CHECK_THROWS_WITH(at(0), Catch::Contains("small signals are not simulated"));
      continue;
    }
    const double still = relative(at(0), adjoint);
    if (!bound.plan->reciprocal()) {
      CHECK(still > 1e-3);  // J is not Jᵀ, as of ep
      continue;
    }
    CHECK(still < 1e-10);
    // (ω/λ)², λ the slowest rate of a circuit, which ratio of two frequencies tells: below 1e-3 a fourth power is left.
    const double low = relative(at(1e-3), adjoint), twice = relative(at(2e-3), adjoint);
    CHECK(low < 1e-3);
    CHECK(twice == Approx(4 * low).epsilon(1e-2));
  }
  Bound curved(
      {"diode\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b y 5k\nD1 y 0 dd\n.model dd D(is=1u)\n", {"va", "vb"}, {"y"}});
  curved.input_frequency = 0.1;
  CHECK_THROWS_WITH(curved.gradient("frequency", 0), Catch::Contains("this network is not linear"));
}

TEST_CASE("netlist kind: amplitudes are those of ngspice's small-signal analysis", "[netlist][ngspice]") {
  if (!ngspice_installed()) return;
  // Two nodes of 1 uF (unit of conductance 1 mS, unit of time 1 ms); sources swing at ω₁ or a current at ω₂, both of 700/s.
  const Drawn drawn{
      "two nodes\nVa a 0 0\nVb b 0 0\nR1 a x 1k\nR2 b y 500\nR3 x y 2k\nR4 y 0 3k\n", {"va", "vb"}, {"y"}};
  Bound bound(drawn, 1e-3, 1e-3);
  bound.input_frequency = bound.error_frequency = 0.7;
  const Gradient<double> gradient = bound.gradient("frequency", 0);
  const auto in_phase = [](double a, double b, double push, const char* node) {
    return in_phase_by_ngspice("two nodes\nR1 a x 1k\nR2 b y 500\nR3 x y 2k\nR4 y 0 3k\nCx x 0 1u\nCy y 0 1u\n", 0.7, a,
                               b, push, node);
  };
  // A current of 1 mA · 1 V unit: F is in units of 1 mS · 1 V. a answers ∂C/∂y.
  const double x = in_phase(kA, kB, 0, "x"), y = in_phase(kA, kB, 0, "y");
  const double ax = (y - kTarget) * in_phase(0, 0, 1e-3, "x"), ay = (y - kTarget) * in_phase(0, 0, 1e-3, "y");
  // ⟨a, ∂F/∂g⟩ of R1 (a to x), R2 (b to y), R3 (x to y), R4 (y to 0); ngspice prints 12 digits of a gmin of 1e-12.
  const Eigen::Vector4d expected(ax * (kA - x), ay * (kB - y), -(ax - ay) * (x - y), -ay * y);
  CHECK(relative(flat(gradient), expected) < 1e-6);
}

TEST_CASE("netlist kind: a clamped state in a twin is that of other resistors", "[netlist]") {
  Bound alone(circuits()[0]), twin(circuits()[0], 0, 1, 0.01);
  const Eigen::VectorXd exact = flat(alone.gradient("adjoint", 0));
  CHECK(flat(twin.gradient("adjoint", 0)) == exact);  // the free state and its adjoint are one circuit's
  // The states differ by 1 % of drops, whatever the nudge: over η that is worth the more the smaller η is.
  const double small =
      relative(flat(twin.gradient("coupled_learning", 1e-2)), flat(alone.gradient("coupled_learning", 1e-2)));
  const double large =
      relative(flat(twin.gradient("coupled_learning", 0.5)), flat(alone.gradient("coupled_learning", 0.5)));
  CHECK(small > 10 * large);
  CHECK(large > 1e-4);
}

TEST_CASE("netlist kind: gradients are those of ngspice's operating points", "[netlist][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  const auto spice_cost = [&](const Drawn& drawn, const std::string& text) {
    std::string commands =
        ".options reltol=1e-10 abstol=1e-18 vntol=1e-15 itl1=1000 rshunt=1e12\n.control\nset numdgt=15\nop\n";
    for (const std::string& output : drawn.outputs) commands += "print v(" + output + ")\n";
    const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
    double sum = 0;
    for (const std::string& output : drawn.outputs) {
      const std::string name = "v(" + output + ") = ";
      const auto at = log.find(name);
      REQUIRE(at != std::string::npos);
      const double error = std::stod(log.substr(at + name.size())) - kTarget;
      sum += 0.5 * error * error;
    }
    return sum;
  };
  for (const Drawn& drawn : circuits()) {
    CAPTURE(drawn.text);
    Bound bound(drawn);
    const Gradient<double> adjoint = bound.gradient("adjoint", 0);
    const NetlistPorts& ports = bound.plan->ports();
    std::string text = drawn.text;
    text.replace(text.find("Va a 0 0"), 8, "Va a 0 " + std::to_string(kA));
    const bool stacked = text.find("Vb b a 0") != std::string::npos;
    text.replace(text.find(stacked ? "Vb b a 0" : "Vb b 0 0"), 8,
                 (stacked ? "Vb b a " : "Vb b 0 ") + std::to_string(kB));
    std::vector<double> ours, theirs;
    const auto& elements = bound.plan->equations().netlist().elements;
    for (std::size_t p = 0; p < ports.learned.size(); ++p) {
      for (std::size_t i = 0; i < ports.learned[p].elements.size(); ++i) {
        const Element& e = elements[ports.learned[p].elements[i]];
        const bool resistor = e.kind == ElementKind::resistor;
        const double value = resistor ? 1 / e.value : e.value, step = 1e-3 * std::abs(value);
        double cost[2];
        for (const int side : {0, 1}) {
          const double moved = value + (side == 0 ? step : -step);
          std::string changed = text;
          const auto line =
              changed.find("\n" + std::string(1, static_cast<char>(std::toupper(e.name[0]))) + e.name.substr(1) + " ") +
              1;
          const auto end = changed.find('\n', line), last = changed.rfind(' ', end) + 1;
          char number[40];
          std::snprintf(number, sizeof number, "%.17g", resistor ? 1 / moved : moved);
          changed.replace(last, end - last, number);
          cost[side] = spice_cost(drawn, changed);
        }
        theirs.push_back((cost[0] - cost[1]) / (2 * step) * ports.learned[p].unit);
        ours.push_back(adjoint[static_cast<int>(p)](0, static_cast<Index>(i)));
      }
    }
    const Eigen::Map<Eigen::VectorXd> a(ours.data(), static_cast<Index>(ours.size())), b(theirs.data(), a.size());
    // (1e-3)² of relative third derivatives of order 1, and 3.4e-7 of kT/q times 1/V_t: below 1e-4.
    CHECK(relative(a, b) < 1e-4);
  }
}

TEST_CASE("netlist kind: resistors that are devices have the conductances of these", "[netlist]") {
  const Config config = small("netlist", {"device.model=soft_bounds", "relaxation.solver=direct", "estimator=ep",
                                          "gradcheck.estimators=['ep', 'adjoint']"});
  const auto plan = network_plan(config, sizes_for(config));
  const auto network = make_network<double>(config, plan, Weights::configured);
  CircuitDynamics<double> dynamics(network->circuit(), network->rows(), 1);
  const Matrix<double> input = random_matrix<double>(network->rows(), network->circuit().inputs(), 5);
  dynamics.bind(input, ReadContext{});
  Matrix<double> z = Matrix<double>::Zero(network->rows(), network->cols());
  REQUIRE(dynamics.direct()->solve(z, {}).status == Status::converged);

  const auto& drawn = dynamic_cast<const NetlistPlan&>(*plan);
  std::vector<Matrix<double>> weights;
  std::vector<double> unit_heat_J;
  for (int p = 0; p < network->parameters(); ++p) {
    weights.push_back(network->map(p).weights());
    unit_heat_J.push_back(network->map(p).traits().unit_heat_J);
  }
  REQUIRE(unit_heat_J[0] > 0);
  Netlist netlist = drawn.with_values(weights, unit_heat_J);
  const CrossbarSpec arrays = crossbar_spec(config);
  for (const std::size_t k : drawn.ports().learned[0].elements) {
    const double siemens = 1 / netlist.elements[k].value;
    CHECK(siemens >= arrays.device.g_min_S * (1 - 1e-12));
    CHECK(siemens <= arrays.device.g_max_S * (1 + 1e-12));
  }
  for (std::size_t i = 0; i < drawn.ports().inputs[0].elements.size(); ++i) {
    netlist.elements[drawn.ports().inputs[0].elements[i]].value = input(0, static_cast<Index>(i));
  }
  const NodalEquations equations(netlist);
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(solver.solve(equations.values(), {}, x).status == Status::converged);
  const Columns outputs = network->circuit().nodes().back().columns;
  for (Index k = 0; k < outputs.count; ++k) {
    const int node = find_node(equations.netlist(), "o" + std::to_string(k));
    // The same equations with a resistance in place of a conductance: rounding, and Newton's last step below 1e-9.
    CHECK(z(0, outputs.begin + k) * drawn.ports().volts ==
          Approx(x[static_cast<std::size_t>(node)]).epsilon(1e-9).margin(1e-12));
  }
}

TEST_CASE("netlist kind: outputs may stand in any order", "[netlist]") {
  // Pairs of x, y and w take the places of their nodes.
  const std::string text =
      "chain\nVa a 0 0\nVb b 0 0\nR1 a x 1k\nR2 b y 2k\nR3 x y 3k\nR4 y w 1k\nR5 w 0 2k\nR6 x 0 4k\n";
  const auto volts = [&](const std::vector<std::string>& outputs) {
    Bound bound({text, {"va", "vb"}, outputs});
    const Matrix<double> z = bound.solved();
    const Columns at = bound.network->circuit().nodes().back().columns;
    std::vector<double> all;
    for (Index k = 0; k < at.count; ++k) all.push_back(z(0, at.begin + k));
    return all;
  };
  const std::vector<double> single = volts({"x", "y", "w"});
  const double x = single[0], y = single[1], w = single[2];
  const auto check = [&](const std::vector<std::string>& outputs, const std::vector<double>& expected) {
    CAPTURE(outputs);
    const std::vector<double> found = volts(outputs);
    for (std::size_t k = 0; k < expected.size(); ++k) CHECK(found[k] == Approx(expected[k]).epsilon(1e-12));
  };
  check({"x,y", "x"}, {x - y, x});
  check({"y,x", "y,w", "w"}, {y - x, y - w, w});
  check({"x,y", "y,w", "w"}, {x - y, y - w, w});
  check({"w", "y,w", "x,y"}, {w, y - w, x - y});
  // The sum of squared errors does not care for the order.
  Bound one({text, {"va", "vb"}, {"x,y", "x"}}), other({text, {"va", "vb"}, {"x", "x,y"}});
  for (const char* rule : {"adjoint", "coupled_learning"})
    CHECK(relative(flat(one.gradient(rule, 0.1)), flat(other.gradient(rule, 0.1))) < 1e-10);
  // Three that say each other are refused, and one that the other two give.
  CHECK_THROWS_WITH(volts({"x,y", "y,w", "w,x"}), Catch::Contains("sources or other outputs"));
  CHECK_THROWS_WITH(volts({"x,y", "x", "y"}), Catch::Contains("sources or other outputs"));
}

TEST_CASE("netlist kind: what does not fit is refused", "[netlist]") {
  const auto refused = [](Drawn drawn, const std::string& reason) {
    CHECK_THROWS_WITH(Bound(drawn), Catch::Contains(reason));
  };
  const Drawn& good = circuits()[0];
  refused({good.text, {"va"}, {"y"}}, "netlist.inputs has 1 entries (must have 2");
  refused({good.text, {"va", "r1"}, {"y"}}, "\"r1\" is not an independent source");
  refused({good.text, {"va", "va"}, {"y"}}, "stands twice");
  refused({good.text, {"va", "vb"}, {"z"}}, "no node \"z\"");
  refused({good.text, {"va", "vb"}, {"a"}}, "output a: sources or other outputs set its voltage");
  refused({good.text, {"va", "vb"}, {"y,y"}}, "is always 0 V");
  refused({"apart\nVa a 0 0\nVb b 0 0\nR1 a 0 1k\nR2 b 0 1k\nR3 y 0 1k\nC1 a y 1n\n", {"va", "vb"}, {"y"}},
          "\"y\" is connected to no input");
  refused({"a rail\nVa a 0 0\nVb b 0 0\nVd d 0 1\nR1 a d 1k\nR2 b d 1k\nR3 d y 1k\nR4 y 0 1k\n", {"va", "vb"}, {"y"}},
          "\"y\" is connected to no input");
  refused({good.text, {"va", "vb"}, {"y", "y"}}, "output y: sources or other outputs");
  refused({good.text, {"va", "vb"}, {"y"}, {"q*"}}, "\"q*\" matches no resistor");
  refused({good.text, {"va", "vb"}, {"y"}, {}}, "netlist.learn is empty");
  refused({"n\nVa a 0 0\nVb b 0 0\nR1 a y 1k\nR2 b y -2k\n", {"va", "vb"}, {"y"}}, "is negative");
}
