// SPDX-License-Identifier: Apache-2.0
#include "training/learning/growth_penalty.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/test_dynamics.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

constexpr double kStep = 0.3;

/// F(z) = J (z − root), for any number of stacked copies.
class Linear final : public SmallDynamics<double> {
 public:
  Linear(const Dense<double>& j, const Vec<double>& root) : SmallDynamics(linear_system<double>(3, 6, j, root)) {}
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part = Part::all) override {
    for (Index row = 0; row < z.rows(); row += 3)
      SmallDynamics::force(z.middleRows(row, 3), f.middleRows(row, 3), part);
  }
};

/// One sequence of the tiny model a few steps into its free phase, where the residual still has a direction.
struct Unsettled {
  explicit Unsettled(std::uint64_t seed)
      : model(tiny_model<double>(seed)), batch(tiny_batch(1, seed)), dynamics(model->circuit(), 3, 2), drive(3, 6) {
    model->embed(batch.indices_of(0), drive);
    dynamics.bind(drive, ReadContext{});
    z = drive;
    for (int n = 0; n < 4; ++n) z += kStep * force(z);
  }
  Matrix<double> force(const Matrix<double>& at) {
    Matrix<double> f(3, 6);
    dynamics.force(at, f);
    return f;
  }
  /// y = (1 + ε J) v with J v in central differences of size eta.
  Matrix<double> grown(const Matrix<double>& v, double eta) {
    return v + kStep / (2 * eta) * (force(z + eta * v) - force(z - eta * v));
  }
  std::unique_ptr<Network<double>> model;
  Batch batch;
  CircuitDynamics<double> dynamics;
  Matrix<double> drive, z;
};

}  // namespace

TEST_CASE("the growth factor of a linear system is its decay per step", "[growth]") {
  // F = −(z − z*): J = −1, so g = |1 − ε| exactly, with or without power iterations.
  Linear linear(-Dense<double>::Identity(18, 18), Vec<double>::Ones(18));
  const Matrix<double> z = random_matrix<double>(3, 6, 1);
  Gradient<double> nothing;
  for (const int iterations : {0, 3}) {
    GrowthPenalty<double> penalty({1.0, 0.95, 1e-2, iterations});
    const GrowthReport report = penalty.apply(linear, z, kStep, 1, nothing);
    CHECK(report.growth == Approx(1 - kStep).epsilon(1e-12));  // rounding ε/(probe)
    CHECK_FALSE(report.active);
  }
  GrowthPenalty<double> penalty({1.0, 0.1, 1e-2, 0});
  CHECK(penalty.apply(linear, z, kStep, 1, nothing).active);
  // Nothing to measure where nothing moves.
  const GrowthReport settled = penalty.apply(linear, Matrix<double>::Ones(3, 6), kStep, 1, nothing);
  CHECK(settled.growth == 0);
  CHECK_FALSE(settled.active);
}

namespace {

/// F(z) = −(z − 1) + σ ξ, fresh noise in every evaluation.
class Noisy final : public SmallDynamics<double> {
 public:
  explicit Noisy(double sigma)
      : SmallDynamics(linear_system<double>(3, 6, -Dense<double>::Identity(18, 18), Vec<double>::Ones(18))),
        sigma_(sigma) {}
  DynamicsTraits<double> traits() const override { return {.noisy = true}; }
  void force(ConstMatrixRef<double> z, MatrixRef<double> f, Part part = Part::all) override {
    for (Index row = 0; row < z.rows(); row += 3) {
      SmallDynamics::force(z.middleRows(row, 3), f.middleRows(row, 3), part);
      f.middleRows(row, 3) += random_matrix<double>(3, 6, ++reads_, sigma_);
    }
  }

 private:
  double sigma_;
  std::uint64_t reads_ = 0;
};

}  // namespace

TEST_CASE("a slow mode below the noise of the reads is not penalised", "[growth]") {
  Gradient<double> nothing;
  GrowthPenalty<double> penalty({1.0, 0.1, 1e-2, 0});
  // Far from rest (|F| = 18^½) the noise is nothing; at rest F is noise alone, whose direction says nothing: ‖mean‖²/noise²
  // is distributed as F(18, 18), above 2 in 8 % of draws; 8 or more of 20 happens once in 10⁴.
  const Matrix<double> away = Matrix<double>::Zero(3, 6);
  const Matrix<double> rest = Matrix<double>::Ones(3, 6);
  Noisy weak(1e-3);
  CHECK_FALSE(penalty.apply(weak, away, kStep, 1, nothing).drowned);
  int drowned = 0;
  Noisy strong(1e-1);
  for (int n = 0; n < 20; ++n) {
    const GrowthReport report = penalty.apply(strong, rest, kStep, 1, nothing);
    drowned += report.drowned > 0 ? 1 : 0;
    CHECK((report.drowned == 0 || (report.growth == 0 && report.active == 0)));
  }
  CHECK(drowned > 12);
}

TEST_CASE("power iterations find the slowest mode", "[growth]") {
  Dense<double> j = -Dense<double>::Identity(18, 18);
  j(4, 4) = -0.2;  // 1 + ε J has eigenvalues 0.94 and, 17 times, 0.7
  Linear linear(j, Vec<double>::Zero(18));
  Gradient<double> nothing;
  GrowthPenalty<double> penalty({1.0, 2.0, 1e-2, 60});
  // The fast modes are down by (0.7/0.94)^60 = 2e-8 of at most 1e2 times the slow one, and g errs with the square.
  CHECK(penalty.apply(linear, random_matrix<double>(3, 6, 2), kStep, 1, nothing).growth == Approx(0.94).epsilon(1e-9));
}

TEST_CASE("the growth penalty's gradient agrees with central differences of every parameter", "[growth]") {
  const int iterations = GENERATE(0, 2);
  CAPTURE(iterations);
  const double strength = 0.7, threshold = 0.1, probe = 1e-2;
  Unsettled one(3);
  Gradient<double> gradient(one.model->parameter_shapes());
  GrowthPenalty<double> penalty({strength, threshold, probe, iterations});
  const GrowthReport report = penalty.apply(one.dynamics, one.z, kStep, 4, gradient);
  REQUIRE(report.active);

  const double eta = probe * one.z.norm();
  Matrix<double> v = one.force(one.z).normalized();
  for (int k = 0; k < iterations; ++k) v = one.grown(v, eta).normalized();
  const double g = one.grown(v, eta).norm();
  CHECK(report.growth == Approx(g).epsilon(1e-12));
  // At fixed z and v, ∂‖y‖ = ⟨w, ∂y⟩ with w = y/‖y‖; four sequences share the mean.
  const auto value = [&] { return strength / 4 * (one.grown(v, eta).norm() - threshold); };
  const auto quotients = model_difference_quotients(*one.model, 1e-5, value);
  for (int p = 0; p < one.model->parameters(); ++p) {
    CAPTURE(p);
    const Matrix<double>& exact = quotients[static_cast<std::size_t>(p)];
    if (p == BlockParameter::input || p == BlockParameter::output) {
      // h = 1e-5: truncation 1e-10, rounding ε/(probe h) ~ 2e-16/1e-7 = 2e-9, per entry of order 0.01 … 0.1; and no gate
      // lies within h of the probes for this seed.
      CHECK(relative_error(gradient[p], exact) < 1e-5);
      CHECK(gradient[p].norm() > 1e-3);
    } else {
      CHECK(exact.norm() == 0);
      CHECK((gradient[p].array() == 0).all());
    }
  }
}

TEST_CASE("the penalty adds to the gradient only where it acts, and only to the block's weights", "[growth]") {
  const auto model = tiny_model<double>(4);
  const Batch batch = tiny_batch(3, 4);
  BatchGradientOptions options = tiny_options("aep_anchored", 6, 20);
  const auto without = learn(*model, batch, options);
  CHECK(without.report.growth == 0);
  options.growth = {0.5, 0.05, 1e-2, 0};
  const auto with = learn(*model, batch, options);
  CHECK(with.report.growth_active == 1);
  CHECK(with.report.growth > 0.05);
  for (int p = 0; p < model->parameters(); ++p) {
    const bool weights_of_block = p == BlockParameter::input || p == BlockParameter::output;
    CHECK((with.gradient[p] == without.gradient[p]) == !weights_of_block);
  }
  options.growth.threshold = 1.9;
  const auto idle = learn(*model, batch, options);
  CHECK(idle.report.growth == with.report.growth);
  CHECK(idle.report.growth_active == 0);
  CHECK(same_bits(idle.gradient, without.gradient));
}

TEST_CASE("a step along the penalty's gradient slows the growth", "[growth]") {
  Unsettled one(5);
  Gradient<double> gradient(one.model->parameter_shapes());
  GrowthPenalty<double> penalty({1.0, 0.1, 1e-2, 0});
  const Matrix<double> v = one.force(one.z).normalized();
  const double eta = 1e-2 * one.z.norm(), before = one.grown(v, eta).norm();
  penalty.apply(one.dynamics, one.z, kStep, 1, gradient);
  const double rate = 1e-3;
  for (const int p : {BlockParameter::input, BlockParameter::output})
    one.model->map(p).apply_update(-rate * gradient[p]);
  // First order: g falls by rate ‖∇g‖²; the second order is smaller by rate times a curvature of order 1.
  CHECK(before - one.grown(v, eta).norm() == Approx(rate * std::pow(gradient.norm(), 2)).epsilon(0.05));
}

namespace {

/// Three samples of a layered Hopfield network a few steps into their free phase; the last one does not count.
struct Samples {
  Samples(std::vector<std::string> settings, const TaskSizes& sizes) {
    settings.insert(settings.begin(), {"precision=double", "task.kind=classification", "hopfield.gain=1.2"});
    const Config config = parse_program_config("t", "", settings);
    network = make_network<double>(config, network_plan(config, sizes), Weights::digital);
    batch = {1, 3, {}, {0, 2, Batch::kIgnored}, random_matrix<double>(3, sizes.features, 5).cast<float>().cwiseAbs(),
             {}};
    dynamics = std::make_unique<CircuitDynamics<double>>(network->circuit(), 3, 2);
    input.resize(3, sizes.features);
    network->clamp(batch, 0, input);
    dynamics->bind(input, ReadContext{});
    z = Matrix<double>::Constant(3, network->cols(), 0.4);
    const Box<double>* box = dynamics->box();
    for (int n = 0; n < 6; ++n) {
      Matrix<double> f = force(z);
      if (box == nullptr) z += kStep * f;
      if (box != nullptr) box->step(z, f, kStep, {0, z.cols()});
    }
  }
  Matrix<double> force(const Matrix<double>& at) {
    Matrix<double> f(at.rows(), at.cols());
    dynamics->force(at, f);
    return f;
  }
  std::unique_ptr<Network<double>> network;
  Batch batch;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
  Matrix<double> input, z;
};

/// Directions of one sample by hand: of its residual, without the units that are held, or would leave their box for the probe.
struct ProbeDirection {
  ProbeDirection(Samples& one, Index row, double probe) : eta(probe * one.z.row(row).norm()) {
    moves = Matrix<double>::Ones(1, one.z.cols());
    v = one.force(one.z).row(row);
    const auto outside = [&](Index i, double x) {
      for (const Node& node : one.network->circuit().nodes()) {
        const bool own = i >= node.columns.begin && i < node.columns.end();
        if (own && (x < node.lower || x > node.upper)) return true;
      }
      return false;
    };
    for (Index i = 0; i < v.cols(); ++i) {
      if (outside(i, one.z(row, i) + 1e-12 * v(0, i))) v(0, i) = moves(0, i) = 0;
    }
    for (bool again = true; again;) {
      again = false;
      v.normalize();
      const Matrix<double> before = v;
      for (Index i = 0; i < v.cols(); ++i) {
        const double step = eta * before(0, i);
        if (step == 0 || !(outside(i, one.z(row, i) + step) || outside(i, one.z(row, i) - step))) continue;
        v(0, i) = moves(0, i) = 0;
        again = true;
      }
    }
  }
  /// ||m (1 + eps J) v|| of this sample, J v in central differences.
  double growth(Samples& one, Index row) const {
    one.dynamics->bind(one.input,
                       ReadContext{});  // weights of the clamped link may have changed: read once per example
    Matrix<double> up = one.z, down = one.z;
    up.row(row) += eta * v;
    down.row(row) -= eta * v;
    const Matrix<double> jv = (one.force(up) - one.force(down)).row(row) / (2 * eta);
    return (v + kStep * jv.cwiseProduct(moves)).norm();
  }
  double eta;
  Matrix<double> v, moves;
};

}  // namespace

TEST_CASE("of independent samples the growth penalty's gradient agrees with central differences",
          "[growth][hopfield]") {
  const std::vector<std::string> energy{"hopfield.form=energy", "hopfield.activation=tanh"};
  const TaskSizes features{3, 0, 3, 7, 0, {7}}, image{3, 0, 3, 16, 0, {4, 4}};
  for (const auto& [settings, sizes] : std::initializer_list<std::pair<std::vector<std::string>, TaskSizes>>{
           {{"network.kind=hopfield", "hopfield.hidden=[6,5]"}, features},
           {{"network.kind=hopfield", "hopfield.hidden=[6,5]", "hopfield.activation=relu"}, features},
           {{"network.kind=hopfield", "hopfield.hidden=[6,5]", energy[0], energy[1], "hopfield.feedback=separate"},
            features},
           {{"network.kind=convolutional", "convolutional.maps=[2]", "hopfield.hidden=[5]"}, image}}) {
    CAPTURE(settings);
    Samples one(settings, sizes);
    const double strength = 0.7, threshold = 0.1, probe = 1e-2;
    Gradient<double> gradient(one.network->parameter_shapes());
    GrowthPenalty<double> penalty({strength, threshold, probe, 0, true});
    const GrowthReport report = penalty.apply_rows(*one.dynamics, one.z, kStep, one.batch, 0, gradient);
    CHECK(report.active == 1);  // both samples that count
    const std::vector<ProbeDirection> directions{{one, 0, probe}, {one, 1, probe}};
    const auto mean = [&] { return (directions[0].growth(one, 0) + directions[1].growth(one, 1)) / 2; };
    CHECK(report.growth == Approx(mean()).epsilon(1e-12));  // rounding over the probe
    const auto quotients =
        model_difference_quotients(*one.network, 1e-5, [&] { return strength * (mean() - threshold); });
    double size = 0;
    for (int p = 0; p < one.network->parameters(); ++p) {
      CAPTURE(p);
      const Matrix<double>& exact = quotients[static_cast<std::size_t>(p)];
      // As for the block above: truncation 1e-10, rounding 2e-9, of entries up to 0.1; what has none, such as biases of linear
      // units, is 0 to that rounding.
      CHECK((gradient[p] - exact).norm() < 1e-6 * (1e-2 + exact.norm()) + 3e-9 * static_cast<double>(exact.size()));
      size += exact.norm();
    }
    CHECK(size > 5e-3);
    // And down it the samples settle faster.
    const double before = mean();
    for (int p = 0; p < one.network->parameters(); ++p) one.network->map(p).apply_update(-1e-3 * gradient[p]);
    CHECK(before - mean() == Approx(1e-3 / strength * std::pow(gradient.norm(), 2)).epsilon(0.05));
  }
}

TEST_CASE("growth.samples acts on every sample for itself, however many lie side by side", "[growth][hopfield]") {
  const Config config = parse_program_config(
      "t", "",
      {"precision=double", "network.kind=hopfield", "task.kind=classification", "hopfield.hidden=[6]",
       "hopfield.gain=1.5", "estimator=ep", "relaxation.free_steps=8", "growth.samples=true", "growth.threshold=0.3"});
  Batch batch{5, 1, {}, {0, 1, 2, 1, 0}, random_matrix<double>(5, 7, 1).cast<float>().cwiseAbs(), {}};
  const auto run = [&](Index rows, double strength) {
    const auto network = make_network<double>(config, network_plan(config, {rows, 0, 3, 7, 0, {7}}), Weights::digital);
    auto options = gradient_options<double>(config, "");
    options.growth.strength = strength;
    return learn(*network, side_by_side(batch, rows), options);
  };
  const auto off = run(1, 0), alone = run(1, 0.3), beside = run(3, 0.3);
  CHECK(off.report.growth == 0);
  CHECK(alone.report.growth > 0.3);
  CHECK(alone.report.growth_active > 0);
  CHECK(gradient_error(alone.gradient, off.gradient) > 1e-3);
  // Sums in another order, of which the rounding is divided by the probe.
  CHECK(beside.report.growth == Approx(alone.report.growth).epsilon(1e-11));
  CHECK(beside.report.growth_active == Approx(alone.report.growth_active));
  CHECK(gradient_error(beside.gradient, alone.gradient) < 1e-10);
}

TEST_CASE("growth.samples is refused where nothing can grow", "[growth]") {
  CHECK_THROWS_WITH(
      parse_program_config(
          "t", "", {"network.kind=resistive", "task.kind=classification", "estimator=ep", "growth.samples=true"}),
      Catch::Contains("growth.samples") && Catch::Contains("passive"));
}
