// SPDX-License-Identifier: Apache-2.0
// What a run refuses is refused as the config is read, or as it meets its data, with the key and what it must be.

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"
#include "training/config/rounding.hpp"
#include "training/config/run_parts.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using Catch::Contains;
using Catch::StartsWith;
using Settings = std::vector<std::string>;

namespace {

const char* const kSmall =
    "threads = 1\n[model]\nchannels = 4\ntokens = 5\nmemories = 3\nheads = 1\n[train]\nsteps = 1\nbatch = 2\n"
    "evaluation_batches = 1\ntest_batches = 1\n[relaxation]\nfree_steps = 4\nnudged_steps = 4\n";

Config read(Settings settings) {
  settings.insert(settings.begin(), {"hopfield.hidden=[4]", "resistive.hidden=[4]", "network.kind=block"});
  return parse_program_config("small.toml", kSmall, settings);
}

/// What reading says; "" where the config stands.
std::string refusal(const Settings& settings) {
  try {
    read(settings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

Settings with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

const Settings kCoordinate = {"network.kind=resistive", "task.kind=classification", "relaxation.solver=coordinate"};

}  // namespace

TEST_CASE("keys that a level would set on devices are read where a sweep chooses among devices") {
  const Settings spread = {"hardware.level=local", "attention.gain_spread=0.05"};
  CHECK_THAT(refusal(spread), Contains("attention.gain_spread = 0.05 (nothing reads it"));
  CHECK(refusal(with(spread, {"sweep.grid.device.preset=['ecram']"})).empty());
  CHECK(refusal(with({spread[1]}, {"device.preset=ecram", "sweep.grid.hardware.level=['local']"})).empty());
  // A netlist's is set by no level.
  CHECK_THAT(refusal({"sweep.grid.device.preset=['ecram']", "netlist.twin_mismatch=0.1"}),
             Contains("nothing reads it"));
}

TEST_CASE("rules that only a run knew are known to the config") {
  const Settings stack = {"network.kind=stack"};
  CHECK_THAT(refusal(with(stack, {"model.mixer=mha"})),
             Contains("--set: model.mixer = mha (nothing reads it: network.kind = stack; block would)"));
  CHECK_THAT(refusal(with(stack, {"model.memory_arrays=2"})),
             Contains("model.memory_arrays = 2 (nothing reads it: network.kind = stack; block"));
  CHECK_THAT(refusal(with(stack, {"model.coupling_scale=0.1"})),
             Contains("model.coupling_scale = 0.1 (nothing reads it: network.kind = stack"));
  CHECK_THAT(refusal({"network.kind=hopfield"}),
             Contains("--set: network.kind = hopfield (must be block, stack, transformer"));
  CHECK_THAT(refusal({"task.kind=classification"}), Contains("--set: network.kind = block (must be hopfield,"));
  CHECK_THAT(refusal({"task.kind=selective_copy"}), Contains("--set: model.tokens = 5 (must be at least 18"));
  CHECK_THAT(refusal({"network.kind=hopfield", "task.kind=regression", "hopfield.cost=cross_entropy"}),
             Contains("--set: hopfield.cost = cross_entropy (must be squared_error for task.kind = regression"));
  CHECK_THAT(refusal(with(kCoordinate, {"device.model=soft_bounds", "device.read_noise=1 %"})),
             Contains("relaxation.solver = coordinate (does not fit: it cannot follow fresh noise of reads"));
  CHECK_THAT(refusal(with(kCoordinate,
                          {"device.model=soft_bounds", "device.telegraph_share=1", "device.telegraph_amplitude=0.1",
                           "device.telegraph_time_high=1 us", "device.telegraph_time_low=1 us"})),
             Contains("no slow noise within circuit.noise_within_phases"));
  CHECK(refusal(with(kCoordinate, {"device.model=soft_bounds", "device.telegraph_share=1",
                                   "device.telegraph_amplitude=0.1"})) == "");  // of 1 ms: stands still in a phase
  for (const std::string solver : {"dopri5", "anderson", "newton_gmres"}) {
    CHECK_THAT(refusal({"relaxation.solver=" + solver, "hardware.level=ideal", "device.model=soft_bounds",
                        "device.read_noise=1 %"}),
               Contains("relaxation.solver = " + solver + " (does not fit: it cannot follow fresh noise") &&
                   Contains("; euler, second_order or rk4 would)"));
  }
  CHECK_THAT(refusal({"estimator=aep_transposed", "nudge.form=oscillating", "relaxation.solver=rk4"}),
             Contains("nudge.form = oscillating (does not fit: relaxation.solver must be euler or second_order, whose "
                      "steps it follows; static "
                      "would)"));
  CHECK_THAT(refusal({"estimator=aep_tracked", "relaxation.solver=newton_gmres"}),
             Contains("estimator = aep_tracked (does not fit: relaxation.solver = newton_gmres needs a Jacobian"));
  // What only `gradcheck` runs hinders no training of the same file.
  const std::vector<std::string> other{"relaxation.schedule=sweep", "gradcheck.estimators=[\"ep\", \"dyadic\"]"};
  CHECK(refusal(other) == "");
  CHECK_THROWS_WITH(gradcheck(parse_program_config("c.toml", "", other)),
                    Contains("--set: gradcheck.estimators") && Contains("names dyadic, which does not fit"));
  CHECK_THAT(refusal({"device.model=vteam", "device.vteam.threshold_up=95 V"}), Contains("does not move the state up"));
}

TEST_CASE("the axes of a sweep are known as the config is read") {
  CHECK_THAT(refusal({"sweep.mode=zip", "sweep.grid.train.steps=[1, 2]", "sweep.grid.train.batch=[1]"}),
             Contains("--set: sweep.grid.train.") && Contains("needs as many values on each axis"));
  CHECK_THAT(refusal({"sweep.mode=sobol", "sweep.grid.beta=[0.2, 0.1]"}),
             Contains("--set: sweep.grid.beta must be a range: its first end below the second"));
  CHECK_THAT(refusal({"sweep.mode=random", "sweep.logarithmic=[\"beta\"]", "sweep.grid.beta=[0, 0.1]"}),
             Contains("sweep.grid.beta must start above 0"));
  CHECK(refusal({"sweep.grid.beta=[0.2, 0.1]"}) == "");  // no range: two values
}

TEST_CASE("what only the data tells names the key and its place, in a run as in a check") {
  const Config config = parse_program_config(
      "digits.toml", "network.kind = 'hopfield'\ntask.kind = 'classification'\ndata.classes = 2\n");
  const std::string said = "the digits that ship with nudge: label 2 of sample 2 ";
  CHECK_THROWS_WITH(run_parts(config), StartsWith("digits.toml:3:") && Contains(said) && Contains("see data.classes"));
  CHECK_THROWS_WITH(train(config, std::nullopt), StartsWith("digits.toml:3:") && Contains(said));
  CHECK_THROWS_WITH(gradcheck(config), StartsWith("digits.toml:3:") && Contains(said));
}

TEST_CASE("what a correction path no longer forbids runs") {
  const Settings path = {"correction.gain_error=0.1", "correction.delay=0.5", "correction.noise=0.01"};
  const Settings sweep = {"estimator=bptt", "relaxation.schedule=sweep", "relaxation.step=1"};
  for (const Settings& kind :
       {with(kCoordinate, {}), with({"network.kind=transformer"}, sweep),
        with({"network.kind=hopfield", "task.kind=classification", "hopfield.feedback=none"}, sweep)}) {
    CAPTURE(kind);
    CHECK(train(read(with(path, kind)), std::nullopt).done == 1);
  }
}

TEST_CASE("a nudge below rounding is refused, and one near it is warned of") {
  CHECK_THAT(refusal({"beta=1e-8"}), Contains("beta = 1e-8 (must be at least 3e-6, or auto"));
  CHECK(refusal({"beta=1e-8", "nudge.below_rounding=true"}) == "");
  CHECK(refusal({"beta=1e-8", "precision=double"}) == "");
  CHECK_THAT(refusal({"beta=1e-16", "precision=double"}), Contains("must be at least 5.6e-15"));
  CHECK_THAT(rounding_warning(read({"beta=1e-6"})), Contains("changes the gradient by about 0.3"));
  CHECK(rounding_warning(read({"beta=1e-5"})) == "");
  CHECK(rounding_warning(read({})) == "");
  CHECK(beta_advice(read({"beta=1e-6"})) == "a larger beta (3e-6 or more)");
  CHECK(beta_advice(read({})) == "a smaller beta");
}

TEST_CASE("the error of a nudge by rounding is as large as it is said to be") {
  // Of one network; docs/reference/estimators.md has (1..5)e-7/beta of others in float: within a factor 10 to either side.
  for (const double beta : {1e-5, 1e-6}) {
    const Config config =
        read({"beta=" + std::to_string(beta), "relaxation.free_steps=200", "relaxation.nudged_steps=100",
              "gradcheck.estimators=[\"aep_anchored\"]", "gradcheck.finite_difference_entries=0"});
    const GradcheckReport report = gradcheck(config);
    const GradcheckRow* row = report.find("aep_anchored", "all");
    REQUIRE(row != nullptr);
    CHECK(row->agreement.relative_l2 < 10 * rounding_error("float", beta));
    CHECK(row->agreement.relative_l2 > 0.1 * rounding_error("float", beta));
  }
}
