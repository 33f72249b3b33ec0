// SPDX-License-Identifier: Apache-2.0
#include "training/train/weight_noise.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <fstream>

#include "sim/base/errors.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/test_dynamics.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/learning/cost.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// The noise of a layered Hopfield network 64-10-10, whose two matrices devices may hold.
struct Noisy {
  Config config;
  RunParts parts = run_parts(config);
  WeightNoise<double> noise{config, *parts.plan};

  explicit Noisy(std::vector<std::string> settings) : config(small("hopfield", std::move(settings))) {}
  std::unique_ptr<Network<double>> network() const {
    return make_network<double>(config, parts.plan, Weights::configured);
  }
  /// The number of a parameter that devices would hold.
  int held() const {
    const auto& all = noise.parameters();
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (all[p].on_devices && all[p].shape.rows > 1) return static_cast<int>(p);
    }
    FAIL("nothing is held");
    return 0;
  }
};

/// A file of keys, as `nudge devices fit` writes one.
std::string device_file(const TemporaryDirectory& folder, const std::string& keys) {
  const std::string path = (folder.path() / "device.toml").string();
  std::ofstream(path) << "[device]\nmodel = 'soft_bounds'\ng_min = '0.001 uS'\ng_max = '25 uS'\n"
                      << keys << "\n[hardware]\nlevel = 'ideal'\n";
  return path;
}

}  // namespace

TEST_CASE("noise of the weights is ridge regression for what drives them and unbiased for themselves",
          "[hardware_aware]") {
  const Noisy made({"hardware_aware.weight_noise=0.1"});
  const int p = made.held();
  const Matrix<double> w = random_matrix<double>(12, 5, 1);
  const Matrix<double> x = random_matrix<double>(1, 12, 2), y = random_matrix<double>(1, 5, 3);
  const double s = 0.1 * w.cwiseAbs().maxCoeff();
  const int draws = 20000;
  double loss = 0;
  Matrix<double> of_x = Matrix<double>::Zero(1, 12), of_w = Matrix<double>::Zero(12, 5);
  for (int step = 0; step < draws; ++step) {
    const Matrix<double> seen = made.noise.seen(w, p, 0, static_cast<std::uint64_t>(step));
    const Matrix<double> error = x * seen - y;
    loss += 0.5 * error.squaredNorm() / draws;
    of_x += error * seen.transpose() / draws;
    of_w += x.transpose() * error / draws;
  }
  const Matrix<double> error = x * w - y;
  const double x2 = x.squaredNorm(), share = std::sqrt(x2) * s;  // standard deviation of an output
  // Five standard deviations of a mean of 2·10⁴: of the loss share·|error|, and of its square √(n/2) share².
  const double root = 5 / std::sqrt(static_cast<double>(draws));
  CHECK(loss == Approx(0.5 * error.squaredNorm() + 0.5 * s * s * x2 * 5)
                    .margin(root * (share * error.norm() + std::sqrt(2.5) * share * share)));
  const Matrix<double> ridge = error * w.transpose() + s * s * 5 * x;
  // Of every entry: share |w_i| and s |error|, and the product of the two noises.
  CHECK((of_x - ridge).cwiseAbs().maxCoeff() <
        root * (share * w.rowwise().norm().maxCoeff() + s * error.norm() + std::sqrt(5.0) * s * share));
  CHECK((s * s * 5 * x).cwiseAbs().maxCoeff() > 5 * (of_x - ridge).cwiseAbs().maxCoeff());  // it is seen
  CHECK((of_w - x.transpose() * error).cwiseAbs().maxCoeff() < root * share * x.cwiseAbs().maxCoeff());
}

TEST_CASE("the phases of a step see noisy weights, and the network has its own again", "[hardware_aware]") {
  const Noisy made({"hardware_aware.weight_noise=0.1"});
  const auto network = made.network();
  const int p = made.held();
  const Matrix<double> before = network->map(p).weights();
  {
    const NoisyWeights<double> noisy(made.noise, *network, 7);
    CHECK(network->map(p).weights() == made.noise.seen(before, p, 0, 7));
    CHECK(network->map(p).weights() != before);
    // σ max|W| over the root mean square of W, which is some sixth of the largest of 640 normal numbers or more.
    CHECK(noisy.share() > 0.1);
    CHECK(noisy.share() < 0.1 * 7);
  }
  CHECK(network->map(p).weights() == before);
  CHECK(made.noise.seen(before, p, 0, 8) != made.noise.seen(before, p, 0, 7));
  const Noisy off({});
  CHECK_FALSE(off.noise.active());
}

TEST_CASE("a step sees what drift leaves of newly written devices", "[hardware_aware]") {
  const TemporaryDirectory folder;
  const std::string file = device_file(folder, "drift_exponent = 0.1\ndrift_start = '1 s'\n");
  const Noisy made({"hardware_aware.devices=" + file, "hardware_aware.age=1000 s"});
  const Matrix<double> w = random_matrix<double>(12, 5, 1);
  const Matrix<double> seen = made.noise.seen(w, made.held(), 0, 3);
  // Both devices of a pair fall by (t/t0)^-ν, and so does their difference; rounding of conductances of 2·10⁻⁵ S.
  CHECK(relative_error(seen, std::pow(1000.0, -0.1) * w) < 1e-9);
}

TEST_CASE("every step programs other devices, with the error that theirs has", "[hardware_aware]") {
  const TemporaryDirectory folder;
  const std::string file = device_file(folder, "programming_error = 0.02\n");
  const Noisy made({"hardware_aware.devices=" + file});
  const Matrix<double> w = random_matrix<double>(40, 50, 1, 0.2);
  double squares = 0;
  for (std::uint64_t step = 0; step < 4; ++step) {
    squares += (made.noise.seen(w, made.held(), 0, step) - w).squaredNorm() / 8000;
  }
  CHECK(made.noise.seen(w, made.held(), 0, 0) != made.noise.seen(w, made.held(), 0, 1));
  // Each of a pair misses by .02 of the window, which holds 2 max|W|; errors below g_min are cut off, up to half of them of the device
  // that is at rest: between 1/2 and 1 of the variance of two.
  const double unit = 0.02 * 2 * w.cwiseAbs().maxCoeff();
  CHECK(std::sqrt(squares) > unit * std::sqrt(0.9));
  CHECK(std::sqrt(squares) < unit * std::sqrt(2.1));
}

TEST_CASE("hardware-aware training learns the same whatever the threads, and otherwise than without",
          "[hardware_aware]") {
  const auto loss = [](std::vector<std::string> settings) {
    settings.insert(settings.end(), {"train.steps=6", "relaxation.free_steps=30", "relaxation.nudged_steps=30"});
    return train(small("hopfield", std::move(settings)), std::nullopt).of("validation_loss");
  };
  const double one = loss({"hardware_aware.weight_noise=0.1", "threads=1"});
  CHECK(one == loss({"hardware_aware.weight_noise=0.1", "threads=2"}));
  CHECK(one != loss({"threads=1"}));
}

TEST_CASE("what hardware-aware training needs is said", "[hardware_aware]") {
  const auto unread = [](std::vector<std::string> settings, const char* why) {
    CAPTURE(settings);
    CHECK_THROWS_WITH(expect_keys_read(small("hopfield", std::move(settings))), Contains(why));
  };
  unread({"device.preset=ecram", "hardware_aware.weight_noise=0.1"}, "(nothing reads it: device.model = ");
  unread({"hardware_aware.age=10 s"}, "hardware_aware.devices");
  CHECK_THROWS_WITH(run_parts(small("hopfield", {"hardware_aware.devices=ecran"})), Contains("ecram"));
  const TemporaryDirectory folder;
  const std::string file = (folder / "numbers.toml").string();
  std::ofstream(file) << "[hardware_aware]\ndevices = '" << file << "'\n";  // it names itself
  CHECK_THROWS_WITH(run_parts(small("hopfield", {"hardware_aware.devices=" + file})), Contains("Name devices"));
}

TEST_CASE(
    "noise that the free phase alone sees is forgotten, or divided by beta, or kept in the state without its Jacobian",
    "[weight_noise]") {
  // F = −z + tanh(W z) + b with the root z*, and z̃ where the free phase of other weights, W + .02 ξ, ends; all phases behind it see W.
  const Dense<double> w = 0.2 * random_dense<double>(6, 6, 3);
  const Vec<double> root = random_dense<double>(6, 1, 4).col(0), g = random_dense<double>(6, 1, 5).col(0);
  const Vec<double> bias = root - Vec<double>((w * root).array().tanh());
  const Dense<double> noisy = w + 0.02 * random_dense<double>(6, 6, 6);
  Vec<double> elsewhere = root;
  for (int n = 0; n < 400; ++n) elsewhere = Vec<double>((noisy * elsewhere).array().tanh()) + bias;  // a contraction
  REQUIRE((elsewhere - root).norm() > 0.02);
  const auto answer = [&](const Vec<double>& z) -> Vec<double> {
    return -solution(tanh_jacobian<double>(w, z), Dense<double>(g)).col(0);
  };
  const double beta = 1e-3;
  const auto estimated = [&](const char* name, NudgeSides sides) -> Vec<double> {
    auto dynamics = tanh_network<double>(1, 6, w, root);
    LinearCost<double> cost;
    Matrix<double> z = elsewhere.transpose(), unused = Matrix<double>::Zero(1, 6);
    cost.bind(Matrix<double>(g.transpose()));
    Gradient<double> gradient;
    Example<double> example{&dynamics, &cost, &z, &unused, 1.0, &gradient};
    EstimatorOptions options;
    options.free.max_steps = 0;
    options.step = options.free.step = 0.5;
    options.nudged_steps = 400;
    options.beta = beta;
    options.sides = sides;
    const auto estimator = make_estimator<double>(name, options);
    estimator->estimate(example);
    return estimator->adjoint().transpose();
  };
  // One copy at a time: (z₋ − z₊)/2β is the mean of (z₋ − z̃)/β and (z̃ − z₊)/β.
  const auto centered = [&](const char* name) -> Vec<double> {
    return (estimated(name, NudgeSides::positive) + estimated(name, NudgeSides::negative)) / 2;
  };
  // Second order in β for two sides, 1e-6 times third derivatives; first for one, 1e-3 times second ones: both of size 10 at most here.
  CHECK((centered("ep") - answer(root)).norm() < 1e-5);
  CHECK((beta * estimated("ep", NudgeSides::positive) - (elsewhere - root)).norm() < 1e-2);
  CHECK((centered("ep_anchored") - answer(elsewhere)).norm() < 1e-5);
  CHECK((answer(elsewhere) - answer(root)).norm() > 1e-3);
}
