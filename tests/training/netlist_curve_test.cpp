// SPDX-License-Identifier: Apache-2.0
// Trainings of memristors with a curve, a selector or noise of reads: gradients are differences of ngspice's operating points, and a read deviates
// as its device says.
#include <fmt/format.h>

#include <cmath>

#include "netlist/netlist_file.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/weighing.hpp"
#include "training/config/assembly.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/learning/squared_error.hpp"
#include "training/models/netlist/netlist_plan.hpp"
#include "training/models/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr double kCurveVa = 0.7, kCurveVb = -0.4, kCurveWanted = 0.1;

/// A circuit of a config, solved for one sample.
struct Curved {
  explicit Curved(const Config& config)
      : plan(netlist_plan_alone(config, "")),
        network(make_network<double>(config, plan, Weights::configured)),
        dynamics(network->circuit(), 1, 4) {
    Matrix<double> input(1, 2);
    input << kCurveVa, kCurveVb;
    bind(input, {});
  }
  void bind(const Matrix<double>& input, const ReadContext& read) {
    dynamics.bind(input, read);
    z = Matrix<double>::Zero(1, network->cols());
  }
  Matrix<double> gradient(const char* estimator, double beta) {
    SquaredError<double> cost(network->circuit().nodes().back().columns);
    cost.bind(Matrix<double>::Constant(1, 1, kCurveWanted));
    Gradient<double> sum(network->parameter_shapes());
    EstimatorOptions options;
    options.free.solver = SettleSolver::direct;
    options.beta = beta;
    Matrix<double> unused = z;
    Example<double> example{&dynamics, &cost, &z, &unused, 1.0, &sum};
    make_estimator<double>(estimator, options)->estimate(example);
    return sum[0];
  }
  Netlist at(const Matrix<double>& numbers) const {
    Netlist netlist = plan->with_values({numbers}, {network->map(0).traits().unit_heat_J});
    netlist.elements[0].value = kCurveVa;
    netlist.elements[1].value = kCurveVb;
    return netlist;
  }

  std::shared_ptr<const NetlistPlan> plan;
  std::unique_ptr<Network<double>> network;
  CircuitDynamics<double> dynamics;
  Matrix<double> z;
};

double spice_cost(const Netlist& netlist) {
  const TemporaryDirectory folder;
  std::string text = netlist_text(netlist, "moved");
  text.insert(text.rfind(".end"),
              ".options reltol=1e-12 abstol=1e-18 vntol=1e-15\n.control\nset numdgt=15\nop\nprint "
              "v(y)\nquit 0\n.endc\n");
  const std::string log = run_ngspice(folder.path(), text);
  const double error = std::stod(log.substr(log.find("v(y) = ") + 7)) - kCurveWanted;
  return 0.5 * error * error;
}

}  // namespace

TEST_CASE("memristor curves: gradients are differences of ngspice's operating points",
          "[netlist][memristor][ngspice]") {
  if (!ngspice_installed()) return;
  Weighing task;
  for (const char* settings : {"iv_sinh=0.2 iv_cubic=0.3", "selector=transistor selector_resistance=30k",
                               "selector=exponential selector_voltage=0.1 selector_current=200n"}) {
    CAPTURE(settings);
    Curved circuit(task.memristors({"data.side_by_side=1"}, settings));
    CHECK(circuit.network->map(0).traits().unit_heat_J > 0);  // devices
    const Matrix<double> held = circuit.network->map(0).weights();
    CHECK(held(0, 0) == Approx(1e6 / 65536 / 10).epsilon(1e-6));  // as drawn, in units of 10 uS
    const Matrix<double> adjoint = circuit.gradient("adjoint", 1e-4);
    for (Index i = 0; i < held.cols(); ++i) {
      const double step = 1e-3 * held(0, i);
      Matrix<double> more = held, less = held;
      more(0, i) += step;
      less(0, i) -= step;
      // (1e-3)² of a relative third derivative of order 1, and 1e-12 of ngspice's steps over the step.
      CHECK(adjoint(0, i) ==
            Approx((spice_cost(circuit.at(more)) - spice_cost(circuit.at(less))) / (2 * step)).epsilon(1e-5));
    }
    // Curved resistors are reciprocal: both rules of equilibrium propagation are the same to β², and to rounding over β.
    for (const char* rule : {"ep", "ep_contrastive"}) {
      CAPTURE(rule);
      const Matrix<double> own = circuit.gradient(rule, 1e-4);
      for (Index i = 0; i < held.cols(); ++i) CHECK(own(0, i) == Approx(adjoint(0, i)).epsilon(1e-6));
    }
  }
}

TEST_CASE("memristor curves: keys of a device replace those of the netlist", "[netlist][memristor]") {
  Weighing task;
  const auto sinh_V = [&](const std::vector<std::string>& more, const std::string& settings) {
    const Element& e = Curved(task.memristors(more, settings)).plan->equations().netlist().elements[3];
    return e.kind == ElementKind::curved_resistor ? e.memristor->curve->at(1, 0.5).current : 0.5;
  };
  const auto of = [](double volts) { return volts * std::sinh(0.5 / volts); };
  CHECK(sinh_V({}, "iv_sinh=0.2") == Approx(of(0.2)).epsilon(1e-12));
  CHECK(sinh_V({"device.iv_sinh=0.4"}, "iv_sinh=0.2") == Approx(of(0.4)).epsilon(1e-12));
  CHECK(sinh_V({"device.iv_sinh=0.4"}, "") == Approx(of(0.4)).epsilon(1e-12));
  CHECK(sinh_V({"device.model=digital"}, "iv_sinh=0.2") == Approx(of(0.2)).epsilon(1e-12));  // a frozen twin
}

TEST_CASE("memristor reads: every solution deviates as its devices do", "[netlist][memristor][noise]") {
  Weighing task;
  constexpr int kReads = 4000;
  const auto deviation = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"data.side_by_side=1", "device.read_noise=0.02"};
    all.insert(all.end(), more.begin(), more.end());
    const Config config = task.memristors(all);
    Curved circuit(config);
    Matrix<double> input(1, 2), f(1, circuit.network->cols());
    input << kCurveVa, kCurveVb;
    double sum = 0, squares = 0;
    for (int k = 0; k < kReads; ++k) {
      ReadContext read;
      read.step = static_cast<std::uint64_t>(k);
      read.policy = read_policy(config);
      circuit.bind(input, read);
      REQUIRE(circuit.dynamics.direct()->solve(circuit.z, {}).status == Status::converged);
      circuit.dynamics.force(circuit.z, f);
      CHECK(f.norm() < 1e-9);  // of the circuit with the conductances of this read
      const double y = circuit.z(0, circuit.z.cols() - 1);
      sum += y;
      squares += y * y;
    }
    const double mean = sum / kReads;
    return std::sqrt(squares / kReads - mean * mean);
  };
  // dy/dg_k = (v_k − y)/G, and 2 % of a window of ecram.
  const DeviceSpec device = crossbar_spec(task.memristors()).device;
  const double siemens[] = {1 / 65536., 1 / 131072., 1 / 262144., 1 / 262144.}, volts[] = {kCurveVa, kCurveVb, 0, 1};
  double all = 1e-6, y = 0, expected = 0;
  for (int k = 0; k < 4; ++k) all += siemens[k];
  for (int k = 0; k < 4; ++k) y += siemens[k] * volts[k] / all;
  for (const double v : volts) expected += std::pow((v - y) / all * 0.02 * device.window_S(), 2);
  expected = std::sqrt(expected);
  // 4000 reads: a standard deviation has an error of 1.1 %, and four of these are a false alarm in 16,000; second order 1 %.
  CHECK(deviation({}) == Approx(expected).epsilon(0.055));
  CHECK(deviation({"reads.free=mean 4"}) == Approx(expected / 2).epsilon(0.055));
  CHECK(deviation({"reads.time=4"}) == Approx(expected / 2).epsilon(0.055));
  CHECK(deviation({"reads.free=ideal"}) < 1e-7);  // the root of the rounding of a difference of squares
}

TEST_CASE("memristor reads: steps of Euler's method hold a node at the variance of their noise",
          "[netlist][memristor][noise]") {
  Weighing task;
  const Config config = task.memristors({"data.side_by_side=1", "device.read_noise=0.02", "relaxation.solver=euler",
                                         "estimator=ep", "relaxation.step=0.05", "circuit.thermal_noise=false"});
  Curved circuit(config);
  const CrossbarSpec spec = crossbar_spec(config);
  // One node of total conductance G: dz/dt = −λ z + s ξ, λ = G/(10 uS), s² = Σ (σ (v_k − y)/10 uS)²: the variance is s²/2λ, and
  // 1/(1 − ελ/2) times that by steps of ε.
  const double siemens[] = {1 / 65536., 1 / 131072., 1 / 262144., 1 / 262144.}, volts[] = {kCurveVa, kCurveVb, 0, 1};
  double all = 1e-6, y = 0, push = 0;
  for (int k = 0; k < 4; ++k) all += siemens[k];
  for (int k = 0; k < 4; ++k) y += siemens[k] * volts[k] / all;
  for (const double v : volts) push += std::pow((v - y) * 0.02 * spec.device.window_S() / 10e-6, 2);
  constexpr double kStep = 0.05;
  const double rate = all / 10e-6, expected = push / (2 * rate) / (1 - kStep * rate / 2);
  Matrix<double> f(1, circuit.network->cols());
  circuit.dynamics.set_read_timing({kStep, kStep});
  double sum = 0, squares = 0;
  constexpr int kSteps = 200000;
  for (int k = 0; k < kSteps + 500; ++k) {
    circuit.dynamics.force(circuit.z, f);
    circuit.z += kStep * f;
    if (k < 500) continue;
    const double d = circuit.z(0, circuit.z.cols() - 1) - y;
    sum += d;
    squares += d * d;
  }
  // 200,000 steps of 0.05 λ are 14,000 correlation times: the variance has an error of √(2/14,000) = 1.2 %; four of these.
  CHECK(squares / kSteps == Approx(expected).epsilon(0.05));
  CHECK(std::abs(sum / kSteps) < 4 * std::sqrt(expected / 14000) + 1e-3 * std::sqrt(expected));
}

TEST_CASE("memristor reads: trainings with them learn, and are the same for any threads",
          "[netlist][memristor][noise]") {
  Weighing task;
  const auto rmse = [&](std::vector<std::string> more) {
    more.emplace_back("device.read_noise=0.01");
    const TrainSummary summary = train(task.memristors(std::move(more)), std::nullopt);
    CHECK(summary.failure.empty());
    return summary.of("test_rmse");
  };
  const double learnt = rmse({});
  CHECK(learnt == rmse({"threads=2"}));
  CHECK(learnt != train(task.memristors(), std::nullopt).of("test_rmse"));
  CHECK(learnt < 0.9 * rmse({"train.learning_rate=1e-12", "train.steps=1"}));
  CHECK_THROWS_WITH(task.memristors({"device.flicker_noise=0.01"}), Contains("circuit.noise_within_phases"));
}
