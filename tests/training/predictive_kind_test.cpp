// SPDX-License-Identifier: Apache-2.0
// network.kind = predictive_coding: force and energy against the errors written out, equilibrium and gradients against a perceptron
// whose backprop is written out.
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/models/network.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Network 3-4-2 with tanh, all weights and biases random.
struct Small {
  std::unique_ptr<Network<double>> network;
  Matrix<double> x = random_matrix<double>(1, 3, 5), target = random_matrix<double>(1, 2, 8);

  explicit Small(const std::string& predictions) {
    const Config config =
        small("predictive_coding", {"predictive_coding.hidden=[4]", "predictive_coding.activation=tanh",
                                    "predictive_coding.predictions=" + predictions});
    network = make_network<double>(config, network_plan(config, {1, 0, 0, 3, 2, {3}}), Weights::digital);
    for (int p = 0; p < network->parameters(); ++p) {
      const ParameterShape shape = network->parameter_shapes()[static_cast<std::size_t>(p)];
      network->map(p).program(0.7 * random_matrix<double>(shape.rows, shape.cols, 40 + static_cast<std::uint64_t>(p)));
    }
  }

  const Matrix<double>& w(int p) const { return network->map(p).weights(); }
  Matrix<double> hidden(const Matrix<double>& below) const { return (below * w(0) + w(2)).array().tanh().matrix(); }
  Matrix<double> output(const Matrix<double>& below) const { return below * w(1) + w(3); }

  /// Gradients of ½ |y − target|² by backprop: W1, W2, b1, b2.
  std::vector<Matrix<double>> backprop() const {
    const Matrix<double> h = hidden(x);
    const Matrix<double> e = output(h) - target.cast<float>().cast<double>();
    const Matrix<double> below = ((e * w(1).transpose()).array() * (1 - h.array().square())).matrix();
    return {x.transpose() * below, h.transpose() * e, below, e};
  }

  /// Gradients of an estimator at a nudge of β.
  std::vector<Matrix<double>> estimate(const std::string& name, double beta) const {
    CircuitDynamics<double> dynamics(network->circuit(), 1, 4);
    dynamics.bind(x, ReadContext{});
    const auto cost = network->make_cost(4);
    Batch batch;
    batch.sequences = batch.tokens = 1;
    batch.values = target.cast<float>();
    cost->bind(batch, 0, ReadContext{});
    EstimatorOptions options;
    options.step = options.free.step = 0.2;  // |M|² is below 5: 1 − 0.2 (1 + 5) stays above −1
    options.free.max_steps = options.nudged_steps = 1500;
    options.beta = beta;
    const auto estimator = make_estimator<double>(name, options);
    Gradient<double> gradient(network->parameter_shapes());
    Matrix<double> z = Matrix<double>::Zero(1, 6), unused = z;
    Example<double> example{&dynamics, cost.get(), &z, &unused, 1.0, &gradient};
    estimator->estimate(example);
    std::vector<Matrix<double>> all;
    for (int p = 0; p < network->parameters(); ++p) all.push_back(gradient[p]);
    CHECK((z.leftCols(4) - hidden(x)).norm() < 1e-12);
    CHECK((z.rightCols(2) - output(hidden(x))).norm() < 1e-12);
    return all;
  }

  /// Largest difference of factor · estimate from backprop, relative to the norm of each parameter's gradient.
  double error(const std::string& name, double beta, double factor = 1) const {
    const auto found = estimate(name, beta), exact = backprop();
    double most = 0;
    for (std::size_t p = 0; p < exact.size(); ++p) {
      most = std::max(most, (factor * found[p] - exact[p]).norm() / exact[p].norm());
    }
    return most;
  }
};

}  // namespace

TEST_CASE("predictive coding kind: the energy is that of the errors, the force its slope") {
  const Small s("free");
  CircuitDynamics<double> dynamics(s.network->circuit(), 1, 1);
  dynamics.bind(s.x, ReadContext{});
  const auto energy = [&](const Matrix<double>& z) {
    return 0.5 *
           ((z.leftCols(4) - s.hidden(s.x)).squaredNorm() + (z.rightCols(2) - s.output(z.leftCols(4))).squaredNorm());
  };
  const Matrix<double> z = random_matrix<double>(1, 6, 6);
  Matrix<double> f(z);
  dynamics.force(z, f);
  const Matrix<double> other = random_matrix<double>(1, 6, 7);
  CHECK(*dynamics.energy(z) - *dynamics.energy(other) == Approx(energy(z) - energy(other)).epsilon(1e-12));
  for (Index i = 0; i < 6; ++i) {
    Matrix<double> up = z, down = z;
    up(0, i) += 1e-5;
    down(0, i) -= 1e-5;
    CHECK(f(0, i) == Approx(-(energy(up) - energy(down)) / 2e-5).epsilon(1e-8).margin(1e-8));  // h² and rounding / h
  }
}

TEST_CASE("predictive coding kind: centered EP is backprop but for beta squared, whatever sums the contrast") {
  const Small s("free");
  for (const std::string name : {"ep", "ep_contrastive"}) {
    CAPTURE(name);
    const double coarse = s.error(name, 0.1), fine = s.error(name, 0.05);
    CHECK(coarse < 0.1);
    CHECK(coarse / fine == Approx(4).epsilon(0.1));  // O(β²), the next order of β⁴ is a few percent of it at 0.1
  }
  CHECK(s.error("implicit", 0.1) < 1e-9);  // no nudge: the adjoint at the equilibrium
}

TEST_CASE("predictive coding kind: with fixed predictions it is backprop at any beta, times 1/(1 - beta^2)") {
  // Errors come down linearly from e_L = β (t − y)/(1 + β); the mean of ±β is e · 1/(1 − β²).
  const Small s("fixed");
  for (const double beta : {0.01, 0.5}) {
    CAPTURE(beta);
    CHECK(s.error("aep_transposed", beta, 1 - beta * beta) < 1e-9);
  }
}
