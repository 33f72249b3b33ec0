// SPDX-License-Identifier: Apache-2.0
// Trainings of memristors that a netlist draws: they are the devices of a crossbar, pulse by pulse; runs are resumed to the same bits;
// gradients are ngspice's; and what does not fit is said.
#include <fmt/format.h>

#include <cmath>

#include "circuits/netlist/memristor_devices.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/training/weighing.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/learnt_netlist.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;
using Settings = std::vector<std::string>;

namespace {

const std::string kWithMemristors = weighing_netlist();
const std::string kWithResistors =
    "mean\nVa a 0 0\nVb b 0 0\nVc c 0 1\nR1 a y 65536\nR2 b y 131072\nR3 y 0 262144\nR4 c y 262144\nRl y 0 1meg\n";

}  // namespace

TEST_CASE("memristor training: a memristor is the device of a crossbar, pulse by pulse", "[netlist][memristor]") {
  Weighing task;
  const double g_max = 25e-6;
  const Config road = task.config(kWithResistors, {"netlist.learn=['r1', 'r2', 'r3', 'r4']", "device.preset=ecram",
                                                   fmt::format("crossbar.w_max={:.17g}", g_max / 10e-6)});
  const Config drawn = task.memristors();
  for (const std::string key :
       {"device.model", "device.update", "device.g_max", "device.pulses", "device.update_noise"})
    CHECK(drawn.as_text(key) == road.as_text(key));
  const auto first = task.file("road.h5"), second = task.file("drawn.h5");
  const TrainSummary a = train(road, first), b = train(drawn, second);
  CHECK(a.failure.empty());
  CHECK(a.of("test_rmse") == b.of("test_rmse"));
  CHECK(H5Reader(first).matrix<double>("parameters/g") == H5Reader(second).matrix<double>("parameters/y"));
  // Whole pulses: a conductance moves by more than a twentieth of a pulse of 1/pulses of the window, or not at all.
  CHECK(b.of("test_rmse") <
        0.8 * train(task.memristors({"train.learning_rate=1e-12", "train.steps=1"}), std::nullopt).of("test_rmse"));
}

TEST_CASE("memristor training: a run that was stopped goes on to the same bits, and is written back",
          "[netlist][memristor][ngspice]") {
  Weighing task;
  const auto whole = task.file("whole.h5"), parts = task.file("parts.h5");
  const Config config = task.memristors({"device.drift_exponent=0.02"});
  const TrainSummary summary = train(config, whole);
  train(config, parts, [](const TrainProgress& p) { return p.done < 25; });
  CHECK(resume(parts, nullptr).of("test_rmse") == summary.of("test_rmse"));
  CHECK(differing_objects(whole, parts) == std::vector<std::string>{});

  const LearntNetlist learnt = learnt_netlist(whole);
  const Matrix<double> found = H5Reader(whole).matrix<double>("parameters/y");
  for (std::size_t i = 0; i < learnt.learned.size(); ++i) {
    const Element& e = learnt.after.elements[learnt.learned[i]];
    REQUIRE(e.memristor != nullptr);
    CHECK(1 / e.value == Approx(10e-6 * found(0, static_cast<Index>(i))).epsilon(1e-12));
    CHECK(1 / e.value >= e.memristor->min_S * (1 - 1e-9));
    CHECK(1 / e.value <= e.memristor->max_S * (1 + 1e-9));
  }
}

TEST_CASE("memristor training: gradients are those of ngspice's operating points", "[netlist][memristor][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  constexpr double kVa = 0.7, kVb = -0.4, kWanted = 0.1;
  Weighing task;
  const Config config = task.memristors({"data.side_by_side=1"});
  const auto plan = netlist_plan_alone(config, "");
  const auto network = make_network<double>(config, plan, Weights::configured);
  REQUIRE(network->parameters() == 1);
  CHECK(network->map(0).traits().unit_heat_J > 0);  // devices
  CircuitDynamics<double> dynamics(network->circuit(), 1, 4);
  Matrix<double> input(1, 2), z = Matrix<double>::Zero(1, network->cols()), unused = z;
  input << kVa, kVb;
  dynamics.bind(input, ReadContext{});
  SquaredError<double> cost(network->circuit().nodes().back().columns);
  cost.bind(Matrix<double>::Constant(1, 1, kWanted));
  Gradient<double> sum(network->parameter_shapes());
  EstimatorOptions options;
  options.free.solver = SettleSolver::direct;
  Example<double> example{&dynamics, &cost, &z, &unused, 1.0, &sum};
  make_estimator<double>("adjoint", options)->estimate(example);

  const Matrix<double> held = network->map(0).weights();
  const auto spice_cost = [&](const Matrix<double>& numbers) {
    Netlist netlist = plan->with_values({numbers}, {network->map(0).traits().unit_heat_J});
    netlist.elements[0].value = kVa;
    netlist.elements[1].value = kVb;
    std::string text = netlist_text(netlist, "moved");
    text.insert(text.rfind(".end"), ".control\nset numdgt=15\nop\nprint v(y)\nquit 0\n.endc\n");
    const std::string log = run_ngspice(folder.path(), text);
    const double error = std::stod(log.substr(log.find("v(y) = ") + 7)) - kWanted;
    return 0.5 * error * error;
  };
  for (Index i = 0; i < held.cols(); ++i) {
    const double step = 1e-3 * held(0, i);
    Matrix<double> more = held, less = held;
    more(0, i) += step;
    less(0, i) -= step;
    // (1e-3)² of a relative third derivative of order 1, and 1e-15 of ngspice's digits over the step.
    CHECK(sum[0](0, i) == Approx((spice_cost(more) - spice_cost(less)) / (2 * step)).epsilon(1e-5));
  }
}

TEST_CASE("memristor training: what does not fit is said", "[netlist][memristor]") {
  Weighing task;
  CHECK_THROWS_WITH(task.config(kWithMemristors, {"netlist.learn=['rl']"}),
                    Contains("names no memristor") && Contains("y*"));
  CHECK_THROWS_WITH(task.memristors({"device.preset=reram_es"}), Contains("preset ecram") && Contains("Leave the key"));
  CHECK_THROWS_WITH(task.memristors({"crossbar.headroom=3"}), Contains("conductances that are drawn"));
  std::string two = kWithMemristors;
  two.replace(two.find("Y3 y 0 ec r=262144"), 18, "Y3 y 0 preset=reram_es r=65536");
  CHECK_THROWS_WITH(task.config(two, {"netlist.learn=['y*']"}),
                    Contains("y3") && Contains("is another device than y1"));
  // The keys of [device] replace values of the netlist's device, and its frozen twin is numbers.
  CHECK(task.memristors({"device.update_noise=0.5"}).real("device.update_noise") == 0.5);
  CHECK(task.memristors({"device.model=digital"}).text("device.model") == "digital");
}
