// SPDX-License-Identifier: Apache-2.0
// One deep resistive network with Shockley diodes and bidirectional amplifiers, as network.kind = resistive and as the netlist that it is
// exported to: two solvers, two sets of equations and two ways to a gradient, one circuit.
#include <cmath>
#include <fstream>

#include "circuits/circuit_spec.hpp"
#include "netlist/node_coordinates.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/config/config_table.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/resistive/resistive_plan.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Conductances of 1 are 1 mS. What the two ways differ by: 1 pS from every node to ground, 1e-9 of that, and
/// I_s/20 of diodes that do not conduct (JunctionLaw), 5e-15 A. Loads of nodes are of the order of 1, gains 12 in all, 144 where they are
/// squared: some 1e-7; what does not go by this is far above 1e-6.
constexpr double kApart = 1e-6;

const std::string kCommon =
    "estimator = 'ep'\nbeta = 0.01\nprecision = 'double'\nthreads = 1\nhardware.level = "
    "'ideal'\n[circuit]\nread_voltage = '1 V'\n"
    "node_capacitance = '1 nF'\ntime_constant = '1 us'\n[task]\nkind = 'regression'\n[data]\nfile = "
    "'" NUDGE_SOURCE_DIR
    "/examples/grid.csv'\n"
    "labels = 'y1,y2'\nscaling = 'none'\nvalidation_fraction = 0.2\n"
    "[train]\nsteps = 40\nbatch = 4\nlearning_rate = 5e-3\nwarmup = 0\n";

Config resistive_config(const std::vector<std::string>& settings) {
  return parse_program_config(
      "resistive.toml",
      kCommon +
          "[network]\nkind = 'resistive'\n[resistive]\nhidden = [6, 5]\ngain = [4.0, 3.0, 4.0]\n"
          "bias = 'rails'\ndiode = 'shockley'\nsaturation_current = '1e-13 A'\n"
          "[relaxation]\nsolver = 'coordinate'\nfree_steps = 3000\nnudged_steps = 3000\ntolerance = 1e-13\n",
      settings);
}

Config netlist_config(const std::string& file, const std::string& learn) {
  return parse_program_config(
      "netlist.toml",
      kCommon + "[network]\nkind = 'netlist'\n[relaxation]\nsolver = 'direct'\n[netlist]\nfile = '" + file +
          "'\ninputs = ['vx0', 'vx1', 'vx2', 'vx3']\nmirrored = ['vx4', 'vx5', 'vx6', 'vx7']\ninput_scale = 4\n"
          "outputs = ['n3_0', 'n3_1']\nconductance = '1 mS'\nlearn = " +
          learn + "\n",
      {});
}

/// What a network makes of the first sample: its settled state, and gradients.
struct Side {
  explicit Side(RunInDouble& run) : network(run.run.network()), dynamics(network.circuit(), 1, 4) {
    const auto batch = run.task->training(0);
    Matrix<double> input(network.rows(), network.circuit().inputs());
    network.clamp(batch, 0, input);
    dynamics.bind(input.topRows(1), ReadContext{});
    cost.emplace(network.circuit().nodes().back().columns);
    cost->bind(Matrix<double>::Constant(1, 2, 0.1));
    options.free.solver = resistive() ? SettleSolver::coordinate : SettleSolver::direct;
    options.free.max_steps = options.nudged_steps = 3000;
    options.free.tolerance = 1e-13;
    options.beta = 1e-3;
  }
  bool resistive() const { return network.plan().kind() == "resistive"; }
  Gradient<double> gradient(const std::string& estimator) {
    Gradient<double> sum(network.parameter_shapes());
    z = Matrix<double>::Zero(1, network.cols());
    Matrix<double> unused = z;
    Example<double> example{&dynamics, &*cost, &z, &unused, 1.0, &sum};
    make_estimator<double>(estimator, options)->estimate(example);
    return sum;
  }
  const Network<double>& network;
  CircuitDynamics<double> dynamics;
  std::optional<SquaredError<double>> cost;
  EstimatorOptions options;
  Matrix<double> z;
};

/// The name in the netlist of number (i, j) of a parameter of the resistive network.
std::string element_name(const std::string& parameter, Index i, Index j) {
  const std::string number = std::to_string(j);
  if (parameter.starts_with("gb")) return (i == 0 ? "rp" : "rm") + parameter.substr(2) + "_" + number;
  if (parameter.starts_with("b")) return "ib" + parameter.substr(1) + "_" + number;
  return "r" + parameter.substr(1) + "_" + std::to_string(i) + "_" + number;
}

/// Numbers of the netlist in the places and units of the resistive network's parameters; those of current sources are times its
/// amplification, which a gradient (`slope`) is divided by.
std::vector<Matrix<double>> in_layers(const ResistivePlan& plan, const NetlistPlan& drawn,
                                      const std::function<double(int, Index)>& number, bool slope) {
  const Netlist& netlist = drawn.equations().netlist();
  std::vector<Matrix<double>> all;
  for (const Parameter& parameter : plan.parameters()) {
    Matrix<double> values(parameter.shape.rows, parameter.shape.cols);
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) {
        const int element = find_element(netlist, element_name(parameter.name, i, j));
        REQUIRE(element >= 0);
        for (std::size_t p = 0; p < drawn.ports().learned.size(); ++p) {
          const auto& row = drawn.ports().learned[p].elements;
          const auto at = std::find(row.begin(), row.end(), static_cast<std::size_t>(element));
          if (at != row.end()) values(i, j) = number(static_cast<int>(p), at - row.begin());
        }
        if (parameter.conductance) continue;
        const double scale = plan.amplification(std::stoi(parameter.name.substr(1)));
        values(i, j) *= slope ? 1 / scale : scale;
      }
    }
    all.push_back(std::move(values));
  }
  return all;
}

struct Bridge {
  explicit Bridge(const std::vector<std::string>& settings = {}, const std::string& learn = "['r*']")
      : layers(resistive_config(settings)), drawn((write(), netlist_config(file(), learn))) {}
  std::string file() const { return (folder / "network.cir").string(); }
  void write() {
    const Matrix<double> features = layers.task->training(0).features.topRows(1).cast<double>();
    std::ofstream(file())
        << export_resistive(layers.run.network(), circuit_spec(layers.config), features, "nodes.data").netlist;
  }
  const ResistivePlan& plan() const { return dynamic_cast<const ResistivePlan&>(*layers.plan); }
  const NetlistPlan& netlist() const { return dynamic_cast<const NetlistPlan&>(*drawn.plan); }

  TemporaryDirectory folder;
  RunInDouble layers, drawn;
};

}  // namespace

TEST_CASE("bridge: the netlist of a deep resistive network has its state, its energy and its gradients",
          "[netlist][resistive]") {
  for (const auto& [settings, learn] : {std::pair(std::vector<std::string>{}, "['r*']"),
                                        {{"resistive.gain=[4.0]", "resistive.bias=current"}, "['r*', 'ib*']"},
                                        {{"resistive.bias=current"}, "['r*', 'ib*']"}}) {
    CAPTURE(settings);
    Bridge both(settings, learn);
    CHECK(both.netlist().reciprocal());
    Side layers(both.layers), drawn(both.drawn);
    for (const auto& [ours, theirs] :
         {std::pair("ep", "ep"), {"ep_contrastive", "ep_contrastive"}, {"adjoint", "implicit"}}) {
      CAPTURE(ours);
      const Gradient<double> expected = layers.gradient(theirs), found = drawn.gradient(ours);
      // z is u, the voltage times what amplifies it on its way to the outputs: √d is the product of those gains.
      CHECK(relative_error(drawn.z, layers.z) < kApart);
      const auto placed = in_layers(
          both.plan(), both.netlist(), [&](int p, Index i) { return found[p](0, i); }, true);
      for (int p = 0; p < expected.size(); ++p) {
        CAPTURE(both.plan().parameters()[static_cast<std::size_t>(p)].name);
        CHECK(expected[p].norm() > 0);
        CHECK(relative_error(placed[static_cast<std::size_t>(p)], expected[p]) < kApart);
      }
    }
  }
}

TEST_CASE("bridge: the netlist and the layers learn by the same curve", "[netlist][resistive]") {
  Bridge both;
  const double before = both.layers.loss();
  for (std::uint64_t n = 0; n < 40; ++n) {
    for (RunInDouble* run : {&both.layers, &both.drawn}) run->run.step(n, run->task->training(n));
    const double ours = both.drawn.run.log().last("train/loss"), theirs = both.layers.run.log().last("train/loss");
    CHECK(ours ==
          Approx(theirs).epsilon(1e-5));  // differences of the gradients add up, and Adam's first steps are their signs
  }
  CHECK(both.layers.loss() < 0.7 * before);
  CHECK(both.drawn.loss() == Approx(both.layers.loss()).epsilon(1e-5));
  const auto learnt = in_layers(
      both.plan(), both.netlist(), [&](int p, Index i) { return both.drawn.run.network().map(p).weights()(0, i); },
      false);
  for (std::size_t p = 0; p < learnt.size(); ++p) {
    CHECK((learnt[p] - both.layers.run.network().map(static_cast<int>(p)).weights()).cwiseAbs().maxCoeff() < 1e-4);
  }
}

TEST_CASE("bridge: what balances, and what does not", "[netlist]") {
  const auto rows = [](std::vector<std::vector<Share>> all) { return all; };
  // Nodes n (column 0), t behind its amplifier of gain 3, o (column 1, the output): voltage times 3, current times k.
  const auto p = rows({{{0, 1.0}}, {{0, 3.0}}, {{1, 1.0}}});
  const std::vector<NodePair> branches = {{0, kGround}, {1, 2}, {2, kGround}};
  for (const double k : {1.0 / 3, 0.7}) {
    const auto n = rows({{{0, 1.0}}, {{0, k}}, {{1, 1.0}}});
    const auto found = branch_balance(p, n, branches, 2, 1);
    REQUIRE(found);
    CHECK(found->scale[0] == Approx(std::sqrt(3 / k)));  // d k = 3 σ with σ = 1 of what touches the output
    CHECK(found->weight[0] == Approx(3 / k));
    CHECK((found->weight[1] == 1 && found->weight[2] == 1));
  }
  // A buffer takes no current from its input.
  CHECK_FALSE(branch_balance(p, rows({{{0, 1.0}}, {}, {{1, 1.0}}}), branches, 2, 1));
  // A current of the wrong sign.
  CHECK_FALSE(branch_balance(p, rows({{{0, 1.0}}, {{0, -0.3}}, {{1, 1.0}}}), branches, 2, 1));
  // Two ways round that ask for different d: a resistor past the amplifier.
  std::vector<NodePair> past = branches;
  past.push_back({0, 2});
  CHECK_FALSE(branch_balance(p, rows({{{0, 1.0}}, {{0, 1.0 / 3}}, {{1, 1.0}}}), past, 2, 1));
  // No output reaches this one: its column is 1.
  const auto apart = branch_balance(p, p, {{0, kGround}, {2, kGround}}, 2, 1);
  REQUIRE(apart);
  CHECK(apart->scale[0] == 1);
}
