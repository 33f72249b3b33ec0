// SPDX-License-Identifier: Apache-2.0
// network.kind = resistive in the house: bad configs, learning on numbers and on devices, heat, and the export to ngspice.
#include <cmath>

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/crossbar_spec.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/resistive/resistive_solver.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/models/resistive/resistive_plan.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kDigits =
    "estimator = 'ep'\nbeta = 0.05\nprecision = 'double'\nthreads = 1\n[network]\nkind = "
    "'resistive'\n[resistive]\nhidden = [12]\n"
    "gain = [8.0]\n[task]\nkind = 'classification'\n[relaxation]\nsolver = 'coordinate'\nfree_steps = 6\nnudged_steps "
    "= 6\n"
    "[train]\nsteps = 400\nbatch = 8\noptimizer = 'adam'\nlearning_rate = 5e-3\n";

Config digits(const std::vector<std::string>& settings = {}) {
  return parse_program_config("digits.toml", kDigits, settings);
}

/// Weights ≥ 0 everywhere, and some exactly there.
bool clipped_at_zero(Network<double>& network) {
  bool all = true, some = false;
  for (int p = 0; p < network.parameters(); ++p) {
    if (!network.plan().parameters()[static_cast<std::size_t>(p)].conductance) continue;
    all = all && network.map(p).weights().minCoeff() >= 0;
    some = some || (network.map(p).weights().array() == 0.0).any();
  }
  return all && some;
}

}  // namespace

TEST_CASE("resistive: what cannot be is refused with the key and the rule", "[resistive]") {
  const auto refused = [](const std::string& setting, const std::string& text) {
    CAPTURE(setting);
    CHECK_THROWS_WITH(digits({setting, "device.model=soft_bounds"}), Contains(text));
  };
  const std::string lines =
      "nothing reads it: network.kind = resistive; a network whose nodes are not loaded by the lines";
  refused("crossbar.row_resistance=1 Ohm", lines);
  refused("crossbar.forward_adc_bits=8", lines);
  refused("crossbar.transposed_offset=1 mV", lines);
  refused("device.iv_sinh=0.25 V", lines);
  refused("circuit.phase_adc_bits=12", lines);
  refused("crossbar.update=tiki_taka", "must be a rule for single devices with network.kind = resistive");
  refused("relaxation.solver=anderson",
          "does not fit: resistive.diode = ideal keeps states in a box, and it does not project onto a box; euler, "
          "second_order or "
          "coordinate would");
  refused("resistive.gain=[-1]", "resistive.gain");
  refused("resistive.hidden=[0]", "resistive.hidden");
  refused("resistive.bias=ground", "one of none, rails, current");
  CHECK_NOTHROW(digits({"crossbar.row_resistance=1 Ohm"}));  // no device: nothing to refuse
  CHECK_THROWS_WITH(
      parse_program_config("t", "[relaxation]\nsolver = 'coordinate'\n"),
      Contains("t:2:1: relaxation.solver = coordinate (does not fit: units of network.kind = block act on each "
               "other within a node, or their load depends on the state; euler, second_order, rk4, dopri5, anderson or "
               "newton_gmres would)"));
  CHECK_THROWS_WITH(
      digits({"task.kind=characters"}),
      Contains("must be block, stack, transformer, sequence_model or free_transformer for task.kind = characters"));
  CHECK_THROWS_WITH(digits({"resistive.gain=[1, 2, 3]"}), Contains("has 3 entries (must have at most 2"));
}

TEST_CASE("resistive: a nudge without a minimum ends the run with the inequality", "[resistive]") {
  for (const char* solver : {"relaxation.solver=coordinate", "relaxation.solver=euler"}) {
    test::RunInDouble run(digits({solver, "beta=1e4"}));
    CHECK_THROWS_AS(run.train(1), NumericalFailure);
    test::RunInDouble positive(digits({solver, "beta=1e4", "nudge.sides=positive"}));
    CHECK_NOTHROW(positive.train(1));
  }
  CHECK_THROWS_WITH(digits({"device.model=soft_bounds", "device.read_noise=1 %"}),
                    Contains("it cannot follow fresh noise of reads"));
}

TEST_CASE("resistive: learns the digits by exact sweeps and by charging capacitances", "[resistive]") {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{},
        {"resistive.bias=rails"},
        {"relaxation.solver=euler", "relaxation.free_steps=60", "relaxation.nudged_steps=40"},
        {"estimator=ep_contrastive"}}) {
    CAPTURE(how);
    test::RunInDouble run(digits(how));
    const double before = run.loss();
    run.train(400);
    CHECK(run.loss() < 0.6 * before);  // 0.4 of it when this was written
    CHECK(clipped_at_zero(run.run.network()));
  }
}

TEST_CASE("resistive: conductances on devices stay in their window and learn in place", "[resistive]") {
  for (const char* update : {"pulses", "write_verify", "coincidence"}) {
    CAPTURE(update);
    const bool coincides = std::string(update) == "coincidence";
    test::RunInDouble run(
        digits({"device.model=constant_step", "device.g_min=1 uS", "device.g_max=100 uS", "device.pulses=2000",
                "crossbar.headroom=6", std::string("crossbar.update=") + update, "train.gradient_clip=0",
                "train.momentum=0", coincides ? "train.optimizer=sgd" : "train.optimizer=adam",
                coincides ? "train.learning_rate=5e-2" : "train.learning_rate=1e-2"}));
    const double before = run.loss();
    run.train(400);
    INFO(run.loss() / before);
    CHECK(run.loss() < 0.8 * before);
    Network<double>& network = run.run.network();
    for (int p = 0; p < network.parameters(); ++p) {
      if (!network.plan().parameters()[static_cast<std::size_t>(p)].conductance) continue;
      // One scale for all arrays: a hundredth of the largest weight is the least.
      const double largest = 6 * 0.5 / std::sqrt(12.0);  // loose: of uniform draws below 1/√12
      CHECK(network.map(p).weights().minCoeff() > 0);
      CHECK(network.map(p).weights().maxCoeff() <= 2 * largest);
    }
    CHECK(network.map(0).traits().unit_heat_J == network.map(1).traits().unit_heat_J);
  }
}

TEST_CASE("resistive: the heat of a relaxation is that of the resistors at the voltages they have", "[resistive]") {
  const Config config = digits({"device.model=constant_step", "resistive.gain=[8.0, 3.0]", "resistive.bias=rails",
                                "relaxation.solver=euler", "circuit.read_voltage=0.1 V"});
  test::RunInDouble run(config);
  Network<double>& network = run.run.network();
  const Batch batch = run.task->training(0);
  CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
  Matrix<double> input(network.rows(), network.circuit().inputs());
  network.clamp(batch, 0, input);
  ReadMeter meter;
  ReadContext read;
  read.meter = &meter;
  read.relaxation = {0.25, 0.25};
  dynamics.bind(input, read);
  const Matrix<double> u = random_matrix<double>(network.rows(), network.cols(), 3);
  Matrix<double> f(u);
  dynamics.force(u, f);
  const CircuitSpec circuit = circuit_spec(config);
  const ResistiveNetwork net = resistive_circuit(network, circuit);
  const auto& plan = dynamic_cast<const ResistivePlan&>(network.plan());
  Matrix<double> v = circuit.read_voltage_V * u;
  for (int l = 1; l <= 2; ++l) v.middleCols(plan.columns(l).begin, plan.columns(l).count) /= plan.amplification(l);
  const Matrix<double> sources = doubled_input(circuit.read_voltage_V * input);
  const double power = resistive_power(net, sources, v).resistors.sum();
  const ReadTotals& free = meter.at(ReadClass::free);
  CHECK(free.array_J == Approx(power * 0.25 * circuit.time_constant_s).epsilon(1e-12));
  CHECK(free.reads > 0);
}

TEST_CASE("resistive: read noise of a node is that of the squares of the voltages across its resistors",
          "[resistive][statistics]") {
  test::RunInDouble run(digits({"device.model=constant_step", "device.read_noise=1 %", "relaxation.solver=euler"}));
  Network<double>& network = run.run.network();
  Matrix<double> input(network.rows(), network.circuit().inputs());
  network.clamp(run.task->training(0), 0, input);
  CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
  ReadContext read;
  read.relaxation = {0.5, 0.5};
  dynamics.bind(input, read);
  REQUIRE(dynamics.noisy());
  const Matrix<double> u = random_matrix<double>(network.rows(), network.cols(), 3);
  constexpr int draws = 4000;
  Matrix<double> f(u), mean = Matrix<double>::Zero(u.rows(), u.cols()), square = mean;
  for (int n = 0; n < draws; ++n) {
    dynamics.force(u, f);
    mean += f / draws;
    square += f.cwiseAbs2() / draws;
  }
  const DeviceSpec device = crossbar_spec(run.config).device;
  const CircuitSpec circuit = circuit_spec(run.config);
  const double siemens =
      network.map(0).traits().unit_heat_J / (std::pow(circuit.read_voltage_V, 2) * circuit.time_constant_s);
  const double variance =
      std::pow(device.read_noise * device.window_S() / siemens, 2) / 0.5;  // of a weight in such a read
  const Columns hidden{0, 12}, out{12, 10};
  for (const Index row : {Index{0}, u.rows() - 1}) {
    const double sources = 2 * 64.0 * input.row(row).squaredNorm();  // gain 8, [x, −x]
    const double above = u.row(row).middleCols(out.begin, out.count).squaredNorm();
    const double below = u.row(row).middleCols(hidden.begin, hidden.count).squaredNorm();
    for (const Index j : {Index{0}, Index{11}, Index{12}, Index{21}}) {
      CAPTURE(row, j);
      const double v = u(row, j) * u(row, j);
      const double expected = variance * (j < 12 ? sources + 128 * v + above + 10 * v : below + 12 * v);
      const double found = square(row, j) - mean(row, j) * mean(row, j);
      CHECK(found == Approx(expected).epsilon(5 * std::sqrt(2.0 / draws)));  // five standard errors
    }
  }
}

TEST_CASE("resistive: the exported network is that of the simulation, and ngspice's", "[resistive][spice]") {
  for (const char* bias : {"resistive.bias=rails", "resistive.bias=current", "resistive.bias=none"}) {
    CAPTURE(bias);
    const Config config = digits({"device.model=soft_bounds", "device.programming_error=2 %", "resistive.hidden=[6, 5]",
                                  "resistive.gain=[4.0, 2.0, 1.5]", bias});
    test::RunInDouble run(config);
    run.train(2);  // currents are not 0 any more
    const Network<double>& network = run.run.network();
    const CircuitSpec circuit = circuit_spec(config);
    const Matrix<double> features = run.task->training(0).features.row(0).cast<double>();
    const ResistiveExport exported = export_resistive(network, circuit, features, "nodes.data");
    CHECK(exported.kirchhoff < 1e-11);
    CHECK(exported.power_W > 0);
    const ResistiveNetwork net = resistive_circuit(network, circuit);
    const Matrix<double> sources = doubled_input(circuit.read_voltage_V * features);
    const ResistiveState state = ResistiveSolver(net).solve(sources);
    CHECK(exported.power_W == Approx(resistive_power(net, sources, state.voltages).resistors(0, 0)));
    if (!ngspice_installed()) continue;
    const TemporaryDirectory folder;
    run_ngspice(folder.path(), exported.netlist);
    std::ifstream data(folder.path() / "nodes.data");
    double value = 0;
    REQUIRE(data >> value);
    Matrix<double> theirs(1, net.cols());
    for (Index i = 0; i < theirs.cols(); ++i) REQUIRE(data >> theirs(0, i));
    CHECK(relative_error(theirs, state.voltages) < 1e-8);  // held nodes are 1e-12 of their current off 0
  }
}
