// SPDX-License-Identifier: Apache-2.0
// Weights are loaded with the damping at which they were learnt, whoever loads them.
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/set_by.hpp"
#include "training/config/stored_config.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/aged_test.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// A run whose control raises the damping at every step, from 1: its phases of 8 steps never settle to 1e-9.
const Settings kRaising{"train.steps=6", "damping.high=2e-9", "damping.low=1e-9", "damping.raise=1.1"};

double damping_of(const std::filesystem::path& run) { return H5Reader(run).reals<double>("train/damping").back(); }

}  // namespace

TEST_CASE("weights of a run bring its damping, unless a setting says another", "[damping]") {
  const TemporaryDirectory dir;
  const std::filesystem::path run = dir / "run.h5";
  train(tiny_config(kRaising), run);
  const double learnt = damping_of(run);
  REQUIRE(learnt > 1.3);
  const std::string weights = "model.weights=" + run.string();
  const Config config = tiny_config({weights, "gradcheck.finite_difference_entries=0"});
  CHECK(config.real("model.damping") == learnt);
  CHECK_THAT(set_by(config, "model.damping"), Contains("learnt in ") && Contains("run.h5"));
  const std::vector<GivenValue> given = given_values(config);
  CHECK(std::any_of(given.begin(), given.end(), [](const GivenValue& one) { return one.key == "model.damping"; }));
  CHECK(gradcheck(config, {{"implicit"}, false, false}).damping == learnt);
  CHECK(tiny_config({weights, "model.damping=0.7"}).real("model.damping") == 0.7);
  // A network without this damping has nothing to take.
  CHECK_NOTHROW(tiny_config({weights, "network.kind=hopfield", "task.kind=classification"}));
}

TEST_CASE("a run that begins with such weights begins at their damping, and resumes with it", "[damping]") {
  const TemporaryDirectory dir;
  const std::filesystem::path first = dir / "first.h5", second = dir / "second.h5";
  train(tiny_config(kRaising), first);
  const Config config = tiny_config({"model.weights=" + first.string(), "train.steps=3", "train.checkpoint_every=1"});
  train(config, second, stop_after(1));
  CHECK(H5Reader(second).reals<double>("train/damping").front() == damping_of(first));
  CHECK(resume(second, &config).done == 3);
}

TEST_CASE("the config of a trained network is its run's, at its damping and without control", "[damping]") {
  const TemporaryDirectory dir;
  const std::filesystem::path run = dir / "run.h5";
  train(tiny_config(kRaising), run);
  const Config stored = stored_program_config(H5Reader(run));
  CHECK(stored.real("model.damping") == 1);  // as it began
  const auto trained = [&](Settings settings) {
    for (std::string& one : trained_settings(stored, run.string())) settings.push_back(std::move(one));
    return config_on_top(stored, run.string(), settings);
  };
  CHECK(trained({}).real("model.damping") == damping_of(run));
  CHECK_FALSE(trained({}).flag("damping.control"));
  CHECK(trained({"model.damping=0.7"}).real("model.damping") == 0.7);
}
