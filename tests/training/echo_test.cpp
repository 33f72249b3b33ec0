// SPDX-License-Identifier: Apache-2.0
// Inputs that change in time: trajectories of nodes with mass, their gradient by backprop through time and by their echo.
#include <fstream>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/learning/gradient.hpp"
#include "training/models/network.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

constexpr Index kFrames = 5;
constexpr int kSteps = 20;

/// Hopfield network 3-4-2 with tanh and an energy, on 5 frames of 3 features; all weights random.
struct Moving3 {
  std::unique_ptr<Network<double>> network;
  Matrix<double> frames = random_matrix<double>(2, 3 * kFrames, 5), target = random_matrix<double>(2, 2, 8);
  EstimatorOptions options;

  explicit Moving3(double friction = 0, int averaged = 1) {
    const Config config =
        small("hopfield", {"hopfield.hidden=[4]", "hopfield.form=energy", "hopfield.activation=tanh"});
    network = make_network<double>(config, network_plan(config, {2, 0, 0, 3, 2, {3}}), Weights::digital);
    for (int p = 0; p < network->parameters(); ++p) {
      const ParameterShape shape = network->parameter_shapes()[static_cast<std::size_t>(p)];
      network->map(p).program(0.7 * random_matrix<double>(shape.rows, shape.cols, 40 + static_cast<std::uint64_t>(p)));
    }
    options.free.solver = SettleSolver::second_order;
    options.free.motion = {1.5, {friction}, true};
    options.free.average_last = averaged;
    options.free.max_steps = kSteps;
    options.step = options.free.step = 0.2;
  }

  struct Found {
    Gradient<double> gradient;
    double loss;
  };
  Found estimate(const std::string& name, double beta = 1e-3) const {
    CircuitDynamics<double> dynamics(network->circuit(), 2, 2);
    dynamics.bind(frames, ReadContext{});
    const auto cost = network->make_cost(2);
    Batch batch;
    batch.sequences = 1;
    batch.tokens = 2;
    batch.values = target.cast<float>();
    cost->bind(batch, 0, ReadContext{});
    EstimatorOptions its = options;
    its.beta = beta;
    Found out{Gradient<double>(network->parameter_shapes()), 0};
    Matrix<double> z = Matrix<double>::Zero(2, network->cols()), unused = z;
    Example<double> example{&dynamics, cost.get(), &z, &unused, 1.0, &out.gradient};
    const auto estimator = make_estimator<double>(name, its);
    out.loss = estimator->estimate(example).loss;
    return out;
  }
  double error(const Found& found, const Found& exact) const {
    double off = 0;
    for (int p = 0; p < network->parameters(); ++p) off += (found.gradient[p] - exact.gradient[p]).squaredNorm();
    return std::sqrt(off) / exact.gradient.norm();
  }
};

/// Samples of two classes: a wave of 6 frames of 2 values that leads or lags. Their last frames are alike.
std::string waves(const TemporaryDirectory& folder) {
  const auto path = folder / "waves.csv";
  std::ofstream out(path);
  for (int i = 0; i < 240; ++i) {
    const int label = i % 2;
    const double start = 0.37 * i;
    out << label;
    for (int t = 0; t < 6; ++t) {
      const double turn = (label == 0 ? 1.2 : -1.2) * (t - 5) + start;
      out << "," << std::cos(turn) << "," << std::sin(turn);
    }
    out << "\n";
  }
  return path.string();
}

Config series_config(const TemporaryDirectory& folder, const Settings& settings = {}) {
  return parse_program_config(
      "series.toml",
      "threads = 1\nestimator = 'echo'\n"
      "[network]\nkind = 'hopfield'\n[hopfield]\nhidden = [12]\nform = 'energy'\nactivation = 'tanh'\n"
      "[task]\nkind = 'classification'\n"
      "[data]\nframes = 6\nscaling = 'none'\nvalidation_fraction = 0.2\ntest_fraction = 0.2\nfile = '" +
          waves(folder) +
          "'\n[train]\nsteps = 600\nbatch = 16\nevaluate_every = 200\ncheckpoint_every = 200\nlearning_rate = 0.03\n"
          "[relaxation]\nsolver = 'second_order'\nfriction = [0]\nstep = 0.3\nfree_steps = 24\n",
      settings);
}

std::string error_of(const TemporaryDirectory& folder, const Settings& settings) {
  try {
    train(series_config(folder, settings), folder / "refused.h5");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("series: backprop through time is the derivative of the trajectory's loss", "[series]") {
  for (const double friction : {0.0, 0.8}) {
    for (const int averaged : {1, 4}) {
      CAPTURE(friction, averaged);
      const Moving3 s(friction, averaged);
      const auto exact = s.estimate("bptt");
      for (int p = 0; p < s.network->parameters(); ++p) {
        // h = 1e-5: h² of the third derivative and rounding 1e-16/h both stay near 1e-10 of a loss of about 1.
        LinearMap<double>& map = s.network->map(p);
        const Matrix<double> weights = map.weights();
        Matrix<double> moved = weights;
        const auto loss = [&](double h) {
          moved(0, 0) = weights(0, 0) + h;
          map.program(moved);
          const double found = s.estimate("bptt").loss;
          map.program(weights);
          return found;
        };
        CHECK(exact.gradient[p](0, 0) == Approx((loss(1e-5) - loss(-1e-5)) / 2e-5).epsilon(1e-7).margin(1e-8));
      }
    }
  }
}

TEST_CASE("series: the echo of an undamped trajectory is backprop through time but for beta squared", "[series]") {
  for (const int averaged : {1, 4}) {
    CAPTURE(averaged);
    const Moving3 s(0, averaged);
    const auto exact = s.estimate("bptt");
    CHECK(s.estimate("echo").loss == Approx(exact.loss).epsilon(1e-12));
    const double coarse = s.error(s.estimate("echo", 0.1), exact), fine = s.error(s.estimate("echo", 0.05), exact);
    CHECK(coarse / fine == Approx(4).epsilon(0.1));  // the next order, β⁴, is a few percent of it
    CHECK(s.error(s.estimate("echo", 1e-3), exact) < 1e-6);
  }
}

TEST_CASE("series: an echo loses its way by friction and by a clock that is off", "[series]") {
  const Moving3 damped(0.3);
  CHECK(damped.error(damped.estimate("echo"), damped.estimate("bptt")) > 0.05);
  Moving3 slow;
  const auto exact = slow.estimate("bptt");
  const auto off = [&](double clock) {
    slow.options.clock_error = clock;
    return slow.error(slow.estimate("echo"), exact);
  };
  // To first order in the error of the clock; its square is some percent at 1 %.
  CHECK(off(1e-2) > 1e-3);
  CHECK(off(2e-3) / off(1e-3) == Approx(2).epsilon(0.05));
}

TEST_CASE("series: a network learns which way a wave turns, on a resumed run to the same bits", "[series]") {
  const TemporaryDirectory folder;
  const TrainSummary whole = train(series_config(folder), folder / "whole.h5");
  CHECK(whole.failure.empty());
  CHECK(whole.notes.empty());
  CHECK(whole.of("validation_accuracy") > 0.9);  // chance is 0.5
  train(series_config(folder), folder / "broken.h5", stop_after(300));
  resume(folder / "broken.h5", nullptr);
  CHECK(differing_objects(folder / "whole.h5", folder / "broken.h5") == std::vector<std::string>{});
  train(series_config(folder, {"threads=2"}), folder / "threads.h5");
  CHECK(H5Reader(folder / "threads.h5").reals<double>("train/loss") ==
        H5Reader(folder / "whole.h5").reals<double>("train/loss"));
}

TEST_CASE("series: gradcheck holds the echo against differences of the trajectory's loss, on exact numbers and devices",
          "[series]") {
  const TemporaryDirectory folder;
  const Settings base{"precision=double", "gradcheck.estimators=['echo']", "beta=1e-3", "train.batch=4"};
  const GradcheckReport exact = gradcheck(series_config(folder, base));
  CHECK(exact.reference_converged());
  REQUIRE(exact.find("echo", "all") != nullptr);
  CHECK(exact.find("echo", "all")->agreement.relative_l2 < 1e-5);
  REQUIRE(exact.find("finite_difference", "all") != nullptr);
  CHECK(exact.find("finite_difference", "all")->agreement.relative_l2 < 1e-6);
  Settings noisy = base;
  noisy.insert(noisy.end(), {"device.preset=ecram", "device.read_noise=1 %", "circuit.gain_bandwidth=infinite",
                             "hardware.level=mixed", "beta=0.1"});
  const GradcheckReport devices = gradcheck(series_config(folder, noisy));
  REQUIRE(devices.find("echo", "all") != nullptr);
  const double cosine = devices.find("echo", "all")->agreement.cosine;
  CHECK(cosine < 0.9999);
  CHECK(cosine > 0.3);
}

TEST_CASE("series: what cannot follow inputs in time is refused", "[series]") {
  const TemporaryDirectory folder;
  CHECK_THAT(error_of(folder, {"data.frames=5"}), Contains("data.frames = 5") && Contains("12 features"));
  CHECK_THAT(error_of(folder, {"estimator=ep"}), Contains("data.frames must be 1"));
  CHECK_THAT(error_of(folder, {"relaxation.solver=anderson"}), Contains("data.frames must be 1"));
  CHECK_THAT(error_of(folder, {"relaxation.solver=euler"}), Contains("relaxation.solver must be second_order"));
  CHECK_THAT(error_of(folder, {"relaxation.free_steps=4"}), Contains("a frame lasts a step or more"));
  CHECK_THAT(error_of(folder, {"relaxation.tolerance=1e-3"}), Contains("must be off"));
  CHECK_THAT(error_of(folder, {"hopfield.form=projected", "hopfield.activation=hard_sigmoid"}), Contains("box"));
  CHECK_THAT(error_of(folder, {"data.frames=1"}), Contains("data.frames must be above 1"));
  CHECK_THAT(error_of(folder, {"data.frames=1", "estimator=ep"}), Contains("without friction no state settles"));
}
