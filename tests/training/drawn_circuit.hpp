// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "netlist/netlist_file.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/network.hpp"

namespace nudge::test {

/// A netlist as a text, with what is fed, read and learns.
struct Drawn {
  std::string text;
  std::vector<std::string> inputs, outputs, learn = {"r*"};
};

inline constexpr double kA = 0.7, kB = -0.4, kTarget = 0.1;  // features, and the target of every output, V

/// The first sample of two features, kA and kB, bound to a network of numbers, with squared errors.
struct Bound {
  explicit Bound(const Drawn& drawn, double siemens = 0, double tau_s = 1, double mismatch = 0)
      : Bound(drawn, chosen(siemens, tau_s, mismatch)) {}
  static NetlistChoice chosen(double siemens, double tau_s, double mismatch) {
    NetlistChoice choice;
    choice.conductance_S = siemens;
    choice.tau_s = tau_s;
    choice.twin_mismatch = mismatch;
    return choice;
  }
  /// With names of inputs, outputs and what learns as they are drawn.
  Bound(const Drawn& drawn, NetlistChoice choice) {
    choice.inputs = drawn.inputs;
    choice.outputs = drawn.outputs;
    choice.learn = drawn.learn;
    const auto no_files = [](const std::string&, const std::string&, std::string&) { return std::string(); };
    plan = std::make_shared<NetlistPlan>(parse_netlist("t.cir", drawn.text, no_files), choice, 2,
                                         static_cast<Index>(drawn.outputs.size()));
    std::vector<Matrix<double>> weights;
    plan->initial(1, weights);
    Maps<double> maps;
    for (std::size_t p = 0; p < weights.size(); ++p)
      maps.push_back(number_map<double>(plan->parameters()[p], weights[p]));
    network = std::make_unique<Network<double>>(plan, std::move(maps));
    dynamics = std::make_unique<CircuitDynamics<double>>(network->circuit(), 1, 4);
    rebind();
    cost = std::make_unique<SquaredError<double>>(network->circuit().nodes().back().columns);
    cost->bind(Matrix<double>::Constant(1, static_cast<Index>(drawn.outputs.size()), kTarget));
  }
  void rebind() {
    Matrix<double> input(1, 2);
    input << kA, kB;
    dynamics->bind(input, ReadContext{});
  }
  Matrix<double> solved() {
    Matrix<double> z = Matrix<double>::Zero(1, network->cols());
    REQUIRE(dynamics->direct()->solve(z, {}).status == Status::converged);
    return z;
  }
  Gradient<double> gradient(const std::string& estimator, double beta, SettleSolver solver = SettleSolver::direct) {
    options.free.solver = solver;
    options.beta = beta;
    options.input_frequency = input_frequency;
    options.error_frequency = error_frequency;
    const auto made = make_estimator<double>(estimator, options);
    Gradient<double> sum(network->parameter_shapes());
    Matrix<double> z = Matrix<double>::Zero(1, network->cols()), unused = z;
    Example<double> example{dynamics.get(), cost.get(), &z, &unused, 1.0, &sum};
    report = made->estimate(example);
    return sum;
  }

  std::shared_ptr<NetlistPlan> plan;
  std::unique_ptr<Network<double>> network;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
  std::unique_ptr<SquaredError<double>> cost;
  SequenceReport report;
  double input_frequency = 0, error_frequency = 0;
  EstimatorOptions options = {};
};

inline constexpr double kTau_s = 1e-6, kSiemens = 1e-3;  // a column has 1 nF where nothing else is said

/// With these capacitances of the nodes, read so late where that is said.
inline NetlistChoice charged(std::vector<double> farad, double delay_s = 0, double clock_s = 0) {
  NetlistChoice choice = Bound::chosen(kSiemens, kTau_s, 0);
  choice.node_capacitance_F = std::move(farad);
  choice.delay_s = delay_s;
  choice.clock_s = clock_s;
  return choice;
}

/// Nodes a, x, b, y: two that charge, with a capacitor between them.
inline const Drawn kPair{
    "pair\nVa a 0 0\nR1 a x 1k\nVb b 0 0\nR2 b y 500\nR3 x y 2k\nR4 y 0 3k\nCf x y 0.5n\n", {"va", "vb"}, {"y"}};
inline const std::vector<double> kPairFarad = {0, 1e-9, 0, 2e-9};

/// All numbers of a gradient in one column.
inline Eigen::VectorXd flat(const Gradient<double>& g) {
  std::vector<double> all;
  for (int p = 0; p < g.size(); ++p) {
    for (Index i = 0; i < g[p].size(); ++i) all.push_back(g[p].data()[i]);
  }
  return Eigen::Map<Eigen::VectorXd>(all.data(), static_cast<Index>(all.size()));
}

/// What ngspice's small-signal analysis finds of v(node) in phase with its sources at so many radians per millisecond: `elements`, a title
/// before them, with sources of a and b volts and a current of `push` into y.
inline double in_phase_by_ngspice(const std::string& elements, double kiloradians, double a, double b, double push,
                                  const std::string& node) {
  const TemporaryDirectory folder;
  const std::string hertz = fmt::format("{:.17g}", kiloradians * 1e3 / (2 * std::numbers::pi));
  const std::string log = run_ngspice(
      folder.path(), fmt::format("{}Va a 0 0 ac {}\nVb b 0 0 ac {}\nIe 0 y 0 ac {}\n.control\nset numdgt=12\nac lin 1 "
                                 "{} {}\nprint real(v({}))\nquit 0\n.endc\n.end\n",
                                 elements, a, b, push, hertz, hertz, node));
  const auto at = log.find(") = ");
  REQUIRE(at != std::string::npos);
  return std::stod(log.substr(at + 4));
}

inline double relative(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / b.norm(); }
inline double cosine(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return a.dot(b) / (a.norm() * b.norm()); }

}  // namespace nudge::test
