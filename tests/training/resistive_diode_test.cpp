// SPDX-License-Identifier: Apache-2.0
// resistive.diode = shockley: the settled network is that of Newton's method and of ngspice, its gradients are exact, it learns.
#include <cmath>
#include <fstream>

#include "circuits/circuit_spec.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "sim/base/errors.hpp"
#include "sim/settle.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/resistive/shockley_solver.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/run_in_double.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/models/resistive/resistive_plan.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kDiodes =
    "estimator = 'ep'\nbeta = 0.05\nprecision = 'double'\nthreads = 1\nhardware.level = 'ideal'\n[network]\nkind = "
    "'resistive'\n"
    "[resistive]\nhidden = [12]\ngain = [8.0]\ndiode = 'shockley'\nsaturation_current = '1e-12 A'\nemission = 1.2\n"
    "[circuit]\nread_voltage = '0.5 V'\ntemperature = '310 K'\n[task]\nkind = 'classification'\n"
    "[relaxation]\nsolver = 'coordinate'\nfree_steps = 30\nnudged_steps = 30\n"
    "[train]\nsteps = 300\nbatch = 8\nlearning_rate = 5e-3\n";

Config diodes(const std::vector<std::string>& settings = {}) {
  return parse_program_config("diodes.toml", kDiodes, settings);
}

/// State u as volts v.
Matrix<double> volts(const Network<double>& network, const CircuitSpec& circuit, Matrix<double> u) {
  const auto& plan = dynamic_cast<const ResistivePlan&>(network.plan());
  for (int l = 1; l <= plan.shape().layers(); ++l) {
    u.middleCols(plan.columns(l).begin, plan.columns(l).count) *= circuit.read_voltage_V / plan.amplification(l);
  }
  return u;
}

}  // namespace

TEST_CASE("resistive diodes: coordinate descent finds the state of Newton's method, on numbers and on devices",
          "[resistive]") {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"circuit.node_capacitance=3 pF"},
        {"resistive.hidden=[7, 5]", "resistive.gain=[6.0, 2.0, 1.5]", "resistive.bias=rails", "beta=0.005"},
        {"device.model=soft_bounds", "resistive.hidden=[6, 5]", "resistive.gain=[6.0, 2.0, 1.5]",
         "device.programming_error=2 %", "device.g_min=0.5 uS"}}) {
    CAPTURE(how);
    const Config config = diodes(how);
    test::RunInDouble run(config);
    run.train(2);  // currents are not 0 any more
    const Network<double>& network = run.run.network();
    const CircuitSpec circuit = circuit_spec(config);
    CircuitDynamics<double> dynamics(network.circuit(), network.rows(), 1);
    Matrix<double> input(network.rows(), network.circuit().inputs());
    network.clamp(run.task->training(0), 0, input);
    dynamics.bind(input, ReadContext{});
    Matrix<double> u = Matrix<double>::Zero(network.rows(), network.cols());
    SettleOptions options;
    options.solver = SettleSolver::coordinate;
    options.max_steps = 3000;
    options.tolerance = 1e-13;
    SettleWorkspace<double> scratch;
    settle<double>(dynamics, u, options, scratch);
    const ShockleyDiode diode{1e-12, 1.2, 310};
    const ResistiveNetwork net = resistive_circuit(network, circuit);
    const Matrix<double> sources = doubled_input(circuit.read_voltage_V * input);
    const Matrix<double> expected = ShockleySolver(net, diode).solve(sources);
    // Residual 1e-13 over the slowest decay of a sweep, some 1e-2.
    CHECK(relative_error(volts(network, circuit, u), expected) < 1e-10);
    Index conducting = 0, all = 0;
    for (Index l = 1; l < net.depth(); ++l) {
      const Columns hidden = net.columns(l);
      for (Index j = 0; j < hidden.count; ++j) {
        const double sign = j < net.nodes_above_zero(l) ? 1 : -1;
        conducting += (sign * expected.col(hidden.begin + j).array() < -0.2).count();
        all += expected.rows();
      }
    }
    CHECK((conducting > 0 && conducting < all));  // or the diodes were not tried
  }
}

TEST_CASE("resistive diodes: estimators find the exact gradient, which central differences confirm", "[resistive]") {
  for (const char* setting :
       {"resistive.bias=current", "resistive.bias=rails", "resistive.gain=[4.0, 1.5]", "device.model=soft_bounds"}) {
    CAPTURE(setting);
    const GradcheckReport report = gradcheck(
        diodes({setting, "beta=1e-4", "relaxation.free_steps=400", "relaxation.nudged_steps=400", "train.batch=3",
                "gradcheck.finite_difference_entries=6",
                "gradcheck.estimators=['ep', 'ep_contrastive', 'aep_transposed', 'aep_anchored', 'implicit']"}));
    CHECK(report.reference_converged());
    CHECK(report.difference_settled);
    for (const auto& row : report.rows) {
      CAPTURE(row.estimator, row.group);
      if (row.group != "all") continue;
      // β² times the third derivative of a diode, (0.05/V_T)² of the nudge's 1e-4, and rounding 1e-13/β; differences as in
      // network_learning_test.
      CHECK(row.agreement.relative_l2 < (row.estimator == "finite_difference" ? 1e-6 : 1e-4));
    }
  }
}

TEST_CASE("resistive diodes: learns the digits, in float and on devices", "[resistive]") {
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{},
        {"estimator=ep_contrastive", "beta=0.2"},
        {"device.model=constant_step", "device.g_min=1 uS", "device.g_max=100 uS", "device.pulses=2000",
         "crossbar.headroom=6", "crossbar.update=pulses"}}) {
    CAPTURE(how);
    test::RunInDouble run(diodes(how));
    const double before = run.loss();
    run.train(300);
    INFO(run.loss() / before);
    CHECK(run.loss() < 0.8 * before);
  }
}

TEST_CASE("resistive diodes: a phase that has not settled says so", "[resistive]") {
  test::RunInDouble run(diodes({"relaxation.free_steps=1", "relaxation.nudged_steps=1"}));
  run.train(1);
  CHECK(run.run.log().last("train/residual") > 1e-3);
  test::RunInDouble settled(diodes({"relaxation.free_steps=300"}));
  settled.train(1);
  CHECK(settled.run.log().last("train/residual") < 1e-9);
}

TEST_CASE("resistive diodes: what cannot be is refused", "[resistive]") {
  CHECK_THROWS_WITH(diodes({"relaxation.solver=euler"}),
                    Contains("relaxation.solver = euler (does not fit: resistive.diode = shockley has diodes") &&
                        Contains("; coordinate would)"));
  CHECK_THROWS_WITH(diodes({"circuit.temperature=0 K"}), Contains("must be above 0 for resistive.diode = shockley"));
  CHECK_THROWS_WITH(diodes({"resistive.saturation_current=0 A"}), Contains("resistive.saturation_current"));
  CHECK_THROWS_WITH(diodes({"resistive.saturation_current=1 V"}), Contains("resistive.saturation_current"));
  CHECK_THROWS_WITH(diodes({"resistive.emission=0"}), Contains("resistive.emission"));
  CHECK_THROWS_WITH(diodes({"resistive.diode=zener"}), Contains("one of ideal, shockley, none"));
}

TEST_CASE("resistive diodes: the exported network is that of the simulation, and ngspice's", "[resistive][spice]") {
  const Config config = diodes({"device.model=soft_bounds", "device.programming_error=2 %", "resistive.hidden=[6, 5]",
                                "resistive.gain=[4.0, 2.0, 1.5]"});
  test::RunInDouble run(config);
  run.train(2);
  const Network<double>& network = run.run.network();
  const CircuitSpec circuit = circuit_spec(config);
  const Matrix<double> features = run.task->training(0).features.row(0).cast<double>();
  const ResistiveExport exported = export_resistive(network, circuit, features, "nodes.data");
  CHECK(exported.kirchhoff < 1e-10);  // a slope of some hundred loads times the rounding of v
  const ResistiveNetwork net = resistive_circuit(network, circuit);
  const Matrix<double> sources = doubled_input(circuit.read_voltage_V * features);
  const Matrix<double> ours = ShockleySolver(net, {1e-12, 1.2, 310}).solve(sources);
  CHECK(exported.power_W == Approx(resistive_power(net, sources, ours).resistors(0, 0)).epsilon(1e-9));
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  run_ngspice(folder.path(), exported.netlist);
  std::ifstream data(folder.path() / "nodes.data");
  double value = 0;
  REQUIRE(data >> value);
  Matrix<double> theirs(1, net.cols());
  for (Index i = 0; i < theirs.cols(); ++i) REQUIRE(data >> theirs(0, i));
  CHECK(relative_error(theirs, ours) < 1e-6);  // its junctions have a leak of 1e-12 S and a tolerance of its own
}
