// SPDX-License-Identifier: Apache-2.0
// network.kind = oscillator: force and energy against sums over pairs that are written out, equilibrium and gradient of one oscillator
// against their closed forms.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/check/stability.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/models/network.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("oscillator kind: the force is that of sines of differences, pair by pair", "[oscillator]") {
  const Config config = small("oscillator", {"oscillator.hidden=[3]", "oscillator.input_phase=0.7"});
  const auto network = make_network<double>(config, network_plan(config, {1, 0, 0, 2, 2, {2}}), Weights::digital);
  // Fields at other phases than 0 too.
  for (int p = 2; p < network->parameters(); ++p) {
    const ParameterShape shape = network->parameter_shapes()[static_cast<std::size_t>(p)];
    network->map(p).program(random_matrix<double>(shape.rows, shape.cols, 40 + static_cast<std::uint64_t>(p)));
  }
  CircuitDynamics<double> dynamics(network->circuit(), 1, 1);
  const Matrix<double> x = random_matrix<double>(1, 2, 5), z = 2 * random_matrix<double>(1, 5, 6);
  dynamics.bind(x, ReadContext{});
  Matrix<double> f(z);
  dynamics.force(z, f);

  // All phases in a row: two inputs, three hidden, two outputs; K between layers, h_i and θ_i of each.
  Eigen::VectorXd phase(7);
  phase << 0.7 * x(0, 0), 0.7 * x(0, 1), z.row(0).transpose();
  Eigen::MatrixXd k = Eigen::MatrixXd::Zero(7, 7);
  k.block(0, 2, 2, 3) = network->map(0).weights();
  k.block(2, 5, 3, 2) = network->map(1).weights();
  k = (k + k.transpose()).eval();
  double energy = 0;
  for (Index i = 2; i < 7; ++i) {
    const bool hidden = i < 5;
    const Matrix<double>&hc = network->map(hidden ? 2 : 4).weights(), &hs = network->map(hidden ? 3 : 5).weights();
    const Index at = hidden ? i - 2 : i - 5;
    const double h = std::hypot(hc(0, at), hs(0, at)), theta = std::atan2(hs(0, at), hc(0, at));
    double force = -h * std::sin(phase(i) - theta);
    energy -= h * std::cos(phase(i) - theta);
    for (Index j = 0; j < 7; ++j) {
      force -= k(i, j) * std::sin(phase(i) - phase(j));
      energy -= (j < i ? k(i, j) : 0) * std::cos(phase(i) - phase(j));
    }
    CHECK(f(0, i - 2) == Approx(force).epsilon(1e-13).margin(1e-14));  // some tens of roundings
  }
  CHECK(dynamics.energy(z).value() == Approx(energy).epsilon(1e-13));
}

TEST_CASE("oscillator kind: one oscillator settles between its field and what it is coupled to", "[oscillator]") {
  // E = −K cos(φ − θ) − h cos φ: tan φ = K sin θ/(K cos θ + h), and dφ/dK by its derivative. No hidden layer: the output alone.
  const double coupling = 0.8, field = 0.5, theta = 0.9, target = 0.2;
  const Config config = small("oscillator", {"oscillator.hidden=[]", "oscillator.input_phase=1"});
  const auto network = make_network<double>(config, network_plan(config, {1, 0, 0, 1, 1, {1}}), Weights::digital);
  network->map(0).program(Matrix<double>::Constant(1, 1, coupling));
  network->map(1).program(Matrix<double>::Constant(1, 1, field));
  CircuitDynamics<double> dynamics(network->circuit(), 1, 4);
  dynamics.bind(Matrix<double>::Constant(1, 1, theta), ReadContext{});
  const auto cost = network->make_cost(4);
  Batch batch;
  batch.sequences = batch.tokens = 1;
  batch.values = Matrix<float>::Constant(1, 1, static_cast<float>(target));
  cost->bind(batch, 0, ReadContext{});

  const double phi = std::atan2(coupling * std::sin(theta), coupling * std::cos(theta) + field);
  const double stiffness = coupling * std::cos(phi - theta) + field * std::cos(phi);  // E''
  const double slope = std::sin(phi - static_cast<double>(static_cast<float>(target)));
  const double of_k = slope * std::sin(theta - phi) / stiffness, of_hc = -slope * std::sin(phi) / stiffness,
               of_hs = slope * std::cos(phi) / stiffness;
  for (const std::string name : {"implicit", "ep", "ep_contrastive"}) {
    CAPTURE(name);
    EstimatorOptions options;
    options.step = options.free.step = 0.5;
    options.free.max_steps = options.nudged_steps = 400;  // 1 − 0.5 E'' = 0.4 a step
    options.beta = 1e-3;
    const auto estimator = make_estimator<double>(name, options);
    Gradient<double> gradient(network->parameter_shapes());
    Matrix<double> z = Matrix<double>::Zero(1, 1), unused = z;
    Example<double> example{&dynamics, cost.get(), &z, &unused, 1.0, &gradient};
    estimator->estimate(example);
    CHECK(z(0, 0) == Approx(phi).epsilon(1e-12));
    const double tolerance = name == "implicit" ? 1e-9 : 1e-5;  // β² of third derivatives of order 1
    CHECK(gradient[0](0, 0) == Approx(of_k).epsilon(tolerance));
    CHECK(gradient[1](0, 0) == Approx(of_hc).epsilon(tolerance));
    CHECK(gradient[2](0, 0) == Approx(of_hs).epsilon(tolerance));
  }
}

TEST_CASE("oscillator kind: a ring of six has a twisted state beside the one in phase, which random starts find",
          "[oscillator]") {
  // Three hidden and three outputs, every other one of the ring, coupled by 1 and by nothing else: states are φ_k = 2π q k/6, E = −6 cos(2π q/6),
  // stable where a quarter turn is not reached: q = 0 (−6) and q = ±1 (−3).
  const Config config = small("oscillator", {"oscillator.hidden=[3]"});
  const auto network = make_network<double>(config, network_plan(config, {1, 0, 0, 1, 3, {1}}), Weights::digital);
  for (int p = 0; p < network->parameters(); ++p) {
    network->map(p).program(0 * Matrix<double>(network->map(p).weights()));
  }
  Matrix<double> ring(3, 3);
  ring << 1, 0, 1, 1, 1, 0, 0, 1, 1;
  network->map(1).program(ring);
  Batch batch;
  batch.sequences = batch.tokens = 1;
  batch.features = Matrix<float>::Zero(1, 1);
  CircuitDynamics<double> dynamics(network->circuit(), 1, 1);
  dynamics.bind(Matrix<double>::Zero(1, 1), ReadContext{});
  const Matrix<double> in_phase = Matrix<double>::Constant(1, 6, 0.4);
  Matrix<double> twisted(1, 6);  // hidden 0, 1, 2 stand at 0, 2, 4 of the ring, outputs at 1, 3, 5
  twisted << 0, 2, 4, 1, 3, 5;
  twisted *= M_PI / 3;
  CHECK(*dynamics.energy(in_phase) == Approx(-6).epsilon(1e-12));
  CHECK(*dynamics.energy(twisted) == Approx(-3).epsilon(1e-12));
  const MultistabilityReport from_phase = measure_multistability(*network, batch, {in_phase}, 0.3, 150, 3, 1);
  CHECK(from_phase.settled > 0.95);
  CHECK(from_phase.states == 2);
  CHECK(from_phase.lower == 0);
  CHECK(from_phase.same > 0.5);
  const MultistabilityReport from_twist = measure_multistability(*network, batch, {twisted}, 0.3, 150, 3, 1);
  CHECK(from_twist.lower == Approx(from_phase.same));  // the same starts
  CHECK(from_twist.same == Approx(1 - from_phase.same));
}
