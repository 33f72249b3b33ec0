// SPDX-License-Identifier: Apache-2.0
// ngspice settles exported layered Hopfield networks where we do: every form, activation and feedback, convolutions, both costs.

#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/models/hopfield/hopfield_config.hpp"

using namespace nudge;
using namespace nudge::test;
using Settings = std::vector<std::string>;

namespace {

std::unique_ptr<Network<double>> small(Settings settings, bool image, double spread = 0.2) {
  settings.insert(settings.begin(), {"precision=double", "task.kind=classification", "hopfield.hidden=[6,5]"});
  settings.insert(settings.begin(), image ? "network.kind=convolutional" : "network.kind=hopfield");
  const Config config = parse_program_config("small.toml", "", settings);
  const TaskSizes sizes{1, 0, 3, image ? 32 : 7, 0, image ? std::vector<Index>{2, 4, 4} : std::vector<Index>{7}};
  auto network = make_network<double>(config, network_plan(config, sizes), Weights::digital);
  std::uint64_t seed = 20;
  for (int p = 0; p < network->parameters(); ++p) {  // biases start at 0: they would not be tested
    if (network->parameter_names()[static_cast<std::size_t>(p)][0] != 'b') continue;
    Matrix<double> b = random_matrix<double>(1, network->map(p).outputs(), ++seed, spread);
    b.array() += 0.4 - spread;
    network->map(p).program(b);
  }
  return network;
}

/// The state to which dz/dt = F − β ∂C/∂z in its box comes from `start`, by 6000 Euler steps of 0.05 τ: the slowest mode of these
/// networks, above 0.2/τ, is e^−60 by then.
Matrix<double> settled(const Network<double>& network, const HopfieldNetlist& spec, int label) {
  CircuitDynamics<double> dynamics(network.circuit(), 1, 1);
  dynamics.bind(spec.input, ReadContext{});
  const auto cost = network.make_cost(1);
  const Batch batch{1, 1, {}, {label}, spec.input.cast<float>(), {}};
  cost->bind(batch, 0, ReadContext{});
  Matrix<double> s = spec.start, f(1, s.cols()), c(1, s.cols());
  for (int n = 0; n < 6000; ++n) {
    dynamics.force(s, f);
    cost->gradient(s, c);
    s += 0.05 * (f - spec.beta * c);
    for (const Node& node : network.circuit().nodes()) {
      auto own = s.middleCols(node.columns.begin, node.columns.count);
      own = own.cwiseMax(node.lower).cwiseMin(node.upper).eval();
    }
  }
  return s;
}

/// The last line of what ngspice wrote.
Matrix<double> simulated(const Network<double>& network, const HopfieldNetlist& spec) {
  const TemporaryDirectory folder;
  run_ngspice(folder.path(), hopfield_netlist(network, spec, "states.data"));
  Matrix<double> last = Matrix<double>::Constant(1, network.cols(), 1e9);
  std::ifstream data(folder.path() / "states.data");
  for (std::string text; std::getline(data, text);) {
    std::istringstream line(text);
    double time = 0;
    if (!(line >> time)) continue;
    for (Index i = 0; i < last.size(); ++i) line >> last.data()[i];
  }
  return last;
}

}  // namespace

TEST_CASE("ngspice settles an exported layered Hopfield network where we do, free and nudged", "[hopfield][spice]") {
  if (!ngspice_installed()) return;
  const Settings energy{"hopfield.form=energy", "hopfield.activation=tanh", "hopfield.output_activation=tanh"};
  const auto with = [](Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  // In the energy form a unit that comes to a kink is dead behind it, or has no equilibrium at all: weights so small that all stay
  // between their kinks.
  const std::string inside = "hopfield.gain=0.1";
  struct Case {
    Settings settings;
    bool image;
  };
  int held = 0;
  for (const auto& [settings, image] : std::initializer_list<Case>{
           {{}, false},
           {{"hopfield.activation=relu", "hopfield.output_activation=hard_sigmoid"}, false},
           {{"hopfield.feedback=none"}, false},
           {energy, false},
           {with(energy, {"hopfield.feedback=separate", "hopfield.activation=sigmoid"}), false},
           {with(energy, {"hopfield.activation=relu", "hopfield.output_activation=identity", inside}), false},
           {with(energy, {"hopfield.activation=hard_sigmoid", inside}), false},
           {with(energy, {"hopfield.activation=softplus", "hopfield.output_activation=softplus"}), false},
           {{"hopfield.cost=cross_entropy"}, false},
           {with(energy, {"hopfield.cost=cross_entropy"}), false},
           {{"convolutional.maps=[3,2]", "convolutional.pool=[2,1]", "hopfield.hidden=[4]"}, true},
           {with(energy, {"convolutional.maps=[2,2]", "convolutional.pool=[1,2]", "hopfield.hidden=[]",
                          "hopfield.feedback=separate"}),
            true}}) {
    CAPTURE(settings);
    const auto network = small(settings, image, settings.empty() || settings.back() != inside ? 0.2 : 0.02);
    HopfieldNetlist spec;
    spec.input = 0.5 * random_matrix<double>(1, network->circuit().inputs(), 3).array() + 0.5;
    spec.start = Matrix<double>::Constant(1, network->cols(), 0.3);  // in every box, and no unit dead from the start
    spec.stop_s = 60 * spec.time_constant_s;
    spec.print_step_s = 0.1 * spec.time_constant_s;
    const int label = 1;
    spec.target = Matrix<double>::Zero(1, 3);
    spec.target(0, label) = 1;
    Matrix<double> free;
    for (const double beta : {0.0, 0.5, -0.2}) {
      CAPTURE(beta);
      spec.beta = beta;
      const Matrix<double> s = settled(*network, spec, label);
      // reltol = 1e-6 of ngspice at every node, through the loop gain 1/(1 - ρ) ≤ 5 of these networks; a held unit is on_ratio⁻¹ = 1e-6
      // of its force outside its box.
      CHECK(relative_error(simulated(*network, spec), s) < 1e-5);
      if (beta == 0) {
        free = s;
        CHECK(s.norm() > 0.1);
        for (const Node& node : network->circuit().nodes()) {
          for (Index i = node.columns.begin; i < node.columns.end(); ++i)
            held += s(0, i) == node.lower || s(0, i) == node.upper;
        }
      } else {
        CHECK(relative_error(s, free) > 1e-3);  // a netlist without its nudge would not pass
      }
    }
  }
  CHECK(held > 3);  // diodes that conduct
}

TEST_CASE("a netlist of another kind or of curved devices is refused", "[hopfield][spice]") {
  const Config config = parse_program_config("t", "",
                                             {"precision=double", "task.kind=classification", "network.kind=resistive",
                                              "estimator=ep", "resistive.hidden=[3]", "relaxation.solver=coordinate"});
  const auto other = make_network<double>(config, network_plan(config, {1, 0, 3, 7, 0, {7}}), Weights::digital);
  CHECK_THROWS_AS(hopfield_netlist(*other, {}, "x"), UserError);
  const auto network = small({}, false);
  NetlistOptions options{Matrix<double>::Zero(1, 7), {}, {}, "x"};
  CHECK(hopfield_export().write(*network, options).note.find("transconductances") != std::string::npos);
  options.curve.sinh_V = 0.1;
  CHECK_THROWS_AS(hopfield_export().write(*network, options), UserError);
}
