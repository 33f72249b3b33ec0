// SPDX-License-Identifier: Apache-2.0
#include "tests/support/catch.hpp"
#include "training/train/outlier_guard.hpp"

#include <cmath>
#include <limits>

#include "tests/support/temporary_directory.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/learning/estimators/registry.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Learnt {
  Gradient<double> gradient;
  BatchReport report;
};

/// The gradient of three sequences of a small block, under a limit.
Learnt learn(const std::string& estimator, const AdjointSize& limit) {
  const Config config = parse_program_config("small.toml",
                                             "precision = 'double'\nthreads = 1\n[model]\nchannels = 8\ntokens = 6\n"
                                             "memories = 12\nheads = 2\n[train]\nbatch = 3\n[growth]\nstrength = 0\n",
                                             {"estimator=" + estimator});
  const auto task = make_task(config);
  const auto network = make_network<double>(config, network_plan(config, task->sizes()), Weights::digital);
  BatchGradient<double> learner(*network, gradient_options<double>(config, ""));
  learner.set_adjoint_limit(limit);
  Learnt learnt{Gradient<double>(network->parameter_shapes()), {}};
  learnt.report = learner.compute(task->training(0), 0, learnt.gradient);
  return learnt;
}

}  // namespace

TEST_CASE("nothing is left out in the warm-up, then what is ten times the usual in norm and gain") {
  AdjointGuard guard(10);
  for (int k = 0; k < 10; ++k) {
    CHECK(guard.limit().norm == kNone);
    guard.observe({2.0, 0.5});
  }
  CHECK(guard.limit().norm == Approx(20).epsilon(1e-12));
  CHECK(guard.limit().gain == Approx(5).epsilon(1e-12));
  AdjointGuard off(0);
  for (int k = 0; k < 20; ++k) off.observe({2.0, 0.5});
  CHECK(off.limit().norm == kNone);
}

TEST_CASE("a sequence is left out beyond both limits, not beyond one, by every estimator but bptt") {
  for (const std::string& name : estimator_names()) {
    if (estimator_kind(name).asks(needs::solves_itself)) continue;  // of circuits that solve themselves
    if (estimator_kind(name).asks(needs::energy))
      continue;                                  // the block has none of its whole force: hopfield_kind_test.cpp
    if (name == "energy_alternating") continue;  // nor one to descend
    if (estimator_kind(name).asks(needs::bath)) continue;  // of a bath: thermal_kind_test.cpp
    INFO(name);
    const Learnt all = learn(name, {kNone, kNone});
    CHECK(all.report.left_out == 0);
    if (name == "bptt") {
      CHECK(learn(name, {1e-30, 1e-30}).report.left_out == 0);
      continue;
    }
    for (const SequenceReport& one : all.report.sequences) {
      CHECK(one.adjoint.norm > 0);
      CHECK(one.adjoint.gain > 0.1);  // ‖a‖ ≥ ‖∂C/∂z‖/‖J‖, and ‖J‖ is a few 1/τ
      CHECK(one.adjoint.gain < 10);
    }
    // Large for what it is, but not for what drives it: hard to learn, and kept.
    const Learnt hard = learn(name, {1e-30, 1e30});
    CHECK(hard.report.left_out == 0);
    CHECK((hard.gradient[2] == all.gradient[2]));
    const Learnt none = learn(name, {1e-30, 1e-30});
    CHECK(none.report.left_out == 3);
    CHECK(none.gradient.squared_norm() == 0);
  }
}

TEST_CASE(
    "where there is no equilibrium implicit differentiation leaves out, and the growth penalty alone moves the weights",
    "[train]") {
  const test::TemporaryDirectory dir;
  // One step of 0.01 from the start: |F|/|z| stays near 2, and the step to an equilibrium is longer than the state.
  const auto run = [&](const char* strength) {
    const Config config = parse_program_config(
        "unsettled.toml",
        "precision = 'double'\nestimator = 'implicit'\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
        "attention_scale = 3.0\n[train]\nbatch = 3\nsteps = 11\n[relaxation]\nfree_steps = 1\nstep = 0.01\n",
        {std::string("growth.strength=") + strength});
    const auto file = dir / (std::string("strength") + strength + ".h5");
    train(config, file);
    return H5Reader(file).reals<double>("train/nonfinite");
  };
  const auto left_out = [&](const char* strength) {
    return H5Reader(dir / (std::string("strength") + strength + ".h5")).reals<double>("train/left_out");
  };
  const auto with = run("1"), without = run("0");
  for (std::size_t step = 0; step < 11; ++step) {
    const bool warm =
        step >= 10;  // the guard has seen what is usual; after this step the run ends, as no state is an equilibrium
    CHECK(left_out("1")[step] == (warm ? 3 : 0));
    CHECK(left_out("0")[step] == (warm ? 3 : 0));
    CHECK(with[step] == 0);  // accepted
    CHECK(without[step] == (warm ? 1 : 0));
  }
}
