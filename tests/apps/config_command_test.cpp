// SPDX-License-Identifier: Apache-2.0
#include "devices/presets.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/param_table.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

using namespace nudge::test;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("a good config is accepted with what it changes") {
  const Folder folder;
  folder.write("run.toml", "seed = 3\n[train]\nsteps = 10\n");
  const Outcome outcome = run_nudge(folder, "config check run.toml --set train.batch=4 --set model.heads=8");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.errors.empty());
  CHECK_THAT(outcome.output, StartsWith("run.toml: ok, 4 of "));
  CHECK_THAT(outcome.output, Contains("seed = 3 (default 1; run.toml:1:1)"));
  CHECK_THAT(outcome.output, Contains("train.batch = 4 (default 16; --set)"));
  // Every value that is left open, resolved, with the reason: nothing is "and 9 more".
  CHECK_THAT(outcome.output, Contains("\ndecided by the program (auto):\n") &&
                                 Contains("  beta = 0.0001: 1e-4 in float") && !Contains(" more\n"));
}

TEST_CASE("keys of devices and crossbars without a device are named") {
  const Folder folder;
  folder.write(
      "idle.toml",
      "[device]\nread_noise = '1 %'\n[crossbar]\nrow_resistance = '1 Ohm'\n[sweep.grid]\n'device.pulses' = [10, 20]\n");
  const Outcome idle = run_nudge(folder, "config check idle.toml");
  CHECK(idle.exit_code == 0);
  CHECK_THAT(idle.errors, Contains("no effect while device.model = \"digital\"") && Contains("device.read_noise") &&
                              Contains("crossbar.row_resistance") && Contains("device.pulses"));
  CHECK_THAT(idle.output, StartsWith("idle.toml: ok"));
  // A device, or one that an axis or an entrant chooses: nothing to warn of.
  for (const char* setting :
       {"device.model=soft_bounds", "device.preset=ecram", "'sweep.grid.device.preset=[\"ecram\"]'",
        "'compare.entrants=[\"a: device.preset=ecram\", \"bptt\"]'"}) {
    CAPTURE(setting);
    CHECK_THAT(run_nudge(folder, std::string("config check idle.toml --set ") + setting).errors,
               !Contains("no effect"));
  }
}

TEST_CASE("a device that a later network leaves idle is no circuit to check") {
  const Folder folder;
  folder.write("toy.toml", "train.steps = 4\n");
  const Outcome checked = run_nudge(
      folder,
      "config check toy.toml --set device.preset=ecram --set task.kind=characters --set network.kind=sequence_model");
  CHECK(checked.exit_code == 0);
  CHECK_THAT(checked.output, Contains("toy.toml: ok"));
}

TEST_CASE("the check looks at the data and at the points of a sweep, as the run does") {
  const Folder folder;
  folder.write("digits.toml", "network.kind = 'hopfield'\ntask.kind = 'classification'\ndata.classes = 2\n");
  for (const char* door : {"config check digits.toml", "train digits.toml", "gradcheck digits.toml"}) {
    CAPTURE(door);
    const Outcome outcome = run_nudge(folder, door);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, StartsWith("digits.toml:3:") && Contains("must be in [0, 1], as there are 2 classes"));
  }
  folder.write("sweep.toml", "[sweep]\nmode = 'zip'\n");
  CHECK_THAT(run_nudge(folder, "config check sweep.toml").errors, Contains("sweep.grid is empty"));
  const Outcome point = run_nudge(folder, "config check sweep.toml --set 'sweep.grid.model.heads=[1, 3]'");
  CHECK(point.exit_code == 2);
  CHECK_THAT(point.errors, Contains("at model.heads=3: ") && Contains("must divide model.channels = 64"));
  folder.write("far.toml", "data.text = 'elsewhere.txt'\n");
  const Outcome far = run_nudge(folder, "config check far.toml");
  CHECK(far.exit_code == 0);
  CHECK_THAT(far.errors, Contains("data.text = \"elsewhere.txt\": no such file"));
}

TEST_CASE("a nudge near rounding is warned of where a config is checked and where it runs") {
  const Folder folder;
  folder.write(
      "run.toml",
      "beta = 1e-6\n[model]\nchannels = 4\ntokens = 4\nmemories = 3\nheads = 1\n[train]\nsteps = 1\nbatch = 1\n"
      "evaluation_batches = 1\ntest_batches = 1\n");
  for (const char* door : {"config check run.toml", "train run.toml", "gradcheck run.toml"}) {
    CAPTURE(door);
    CHECK_THAT(run_nudge(folder, door).errors, Contains("warning: beta = 1e-6: rounding of precision = float"));
    CHECK_THAT(run_nudge(folder, std::string(door) + " --set beta=1e-8").errors, Contains("must be at least 3e-6"));
  }
  // 1e-44 in float: the nudge is lost, and no smaller one would be found again.
  const Outcome lost =
      run_nudge(folder, "train run.toml --out lost.h5 --set beta=1e-44 --set nudge.below_rounding=true");
  CHECK(lost.exit_code == 3);
  CHECK_THAT(lost.errors, Contains("a larger beta (3e-6 or more)") && !Contains("smaller beta"));
}

TEST_CASE("a bad config exits 2 with every mistake and its place") {
  const Folder folder;
  folder.write("run.toml",
               "sed = 3\n[model]\nchannels = 65\n[train]\nsteps = -1\n[device]\ng_max = '25 us'\n[damping]\nlow = 1\n");
  const Outcome outcome = run_nudge(folder, "config check run.toml --set estimator=aep_anchord");
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Contains("run.toml:1:1: unknown key sed (did you mean seed?)"));
  CHECK_THAT(outcome.errors, Contains("run.toml:3:1: model.heads = 4 (must divide model.channels = 65)"));
  CHECK_THAT(outcome.errors, Contains("run.toml:5:9: train.steps = -1 (must be in [1, 1e9])"));
  CHECK_THAT(outcome.errors, Contains("run.toml:7:9: device.g_max = \"25 us\""));
  CHECK_THAT(outcome.errors, Contains("run.toml:9:1: damping.low = 1 (must be < damping.high = 0.015)"));
  CHECK_THAT(outcome.errors, Contains("--set: estimator = \"aep_anchord\""));
  CHECK_THAT(outcome.errors, Contains("did you mean aep_anchored?"));
  CHECK_THAT(run_nudge(folder, "config check none.toml").errors, Contains("none.toml: cannot read the config"));
  CHECK(run_nudge(folder, "config check none.toml").exit_code == 2);
}

TEST_CASE("a dump is a config with the same values") {
  const Folder folder;
  folder.write("run.toml", "preset = 'noisy_reads'\n[sweep.grid]\n'device.read_noise' = [0, '1 %']\n");
  const Outcome first = run_nudge(folder, "config dump run.toml --set 'circuit.time_constant=50 ns'");
  CHECK(first.exit_code == 0);
  CHECK_THAT(first.output, Contains("time_constant = \"50 ns\""));
  CHECK_THAT(first.output, Contains("\"device.read_noise\" = [0.0, 0.01]"));
  folder.write("dump.toml", first.output);
  CHECK(run_nudge(folder, "config dump dump.toml").output == first.output);
  CHECK_THAT(run_nudge(folder, "config dump run.toml --bare").output, !Contains("#"));
}

TEST_CASE("every preset is a valid config") {
  for (const nudge::Preset& preset : nudge::program_presets()) {
    CHECK_NOTHROW(nudge::parse_program_config("test", "preset = '" + preset.name + "'"));
  }
  for (const nudge::DevicePreset& preset : nudge::device_presets()) {
    CHECK_NOTHROW(nudge::parse_program_config("test", "device.preset = '" + preset.name + "'"));
  }
  const Folder folder;
  CHECK_THAT(run_nudge(folder, "config presets").output, Contains("# noisy_reads: "));
  CHECK_THROWS_WITH(nudge::parse_program_config("test", "preset = 'noisy_red'"),
                    Contains("test:1:10: preset = \"noisy_red\"") && Contains("did you mean noisy_reads?"));
}

TEST_CASE("a device preset fills in the device, and the config replaces single values") {
  const nudge::Config config = nudge::parse_program_config("t", "device.preset = 'ecram'\ndevice.read_noise = 0.01\n");
  CHECK(config.text("device.model") == "linear_step");
  CHECK(config.origin("device.model").layer == nudge::Layer::preset);
  CHECK(config.real("device.read_noise") == 0.01);
  CHECK_THROWS_WITH(nudge::parse_program_config("t", "device.preset = 'ekram'"), Contains("did you mean ecram?"));
  for (const char* setting : {"device.preset=ecram", "device.preset=\"ecram\"", "device.preset='ecram'"}) {
    CAPTURE(setting);
    CHECK(nudge::parse_program_config("t", "device.preset = 'capacitor'", {setting}).text("device.model") ==
          "linear_step");
    CHECK(nudge::parse_program_config("t", "", {setting}).real("device.pulses") == config.real("device.pulses"));
  }
}

TEST_CASE("a preset of devices beside the model of another device that a file has is refused, but for exact numbers") {
  const auto parse = [](const std::string& text, const std::vector<std::string>& settings) {
    return nudge::parse_program_config("t", text, settings);
  };
  const std::string own = "device.model = 'constant_step'\n";
  CHECK_THROWS_WITH(
      parse(own, {"device.preset=reram_es"}),
      Contains("device.model = constant_step (") && Contains("must be exponential_step with device.preset = reram_es"));
  CHECK(parse(own, {"device.preset=reram_es", "device.model=exponential_step"}).real("device.pulses") > 1481);
  CHECK_NOTHROW(parse(own, {"device.preset=reram_es", "device.preset="}));
  CHECK_NOTHROW(parse("", {"device.preset=reram_es", "device.model=digital"}));
  CHECK_NOTHROW(parse(own + "device.preset = 'reram_es'\n", {}));  // said in one place
  CHECK_NOTHROW(parse("", {"device.preset=reram_es", "device.model=ideal"}));
}

TEST_CASE("rules between keys") {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      nudge::parse_program_config("t", text);
    } catch (const nudge::UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(problem("device.g_min = '30 uS'"), Contains("device.g_min = 30 uS (must be < device.g_max = 25 uS)"));
  CHECK_THAT(problem("damping.minimum = 200"), Contains("must be <= damping.maximum = 100"));
  CHECK_THAT(problem("model.damping = 0.01"), Contains("must lie between damping.minimum"));
  CHECK(problem("model.damping = 0.01\ndamping.control = false").empty());
  CHECK_THAT(problem("relaxation.step = 1\ndamping.control = false"), Contains("must be < 2/(1 + s c) = 1, or 0"));
  // .5 is stable at the initial damping of 1, but not at one of 3 and more, which the control may come to
  CHECK(problem("relaxation.step = 0.5\ndamping.control = false").empty());
  CHECK_THAT(problem("relaxation.step = 0.5"), Contains("= 0.0198") && Contains("damping.maximum = 100"));
  CHECK_THAT(problem("relaxation.step = 0.5\ndamping.maximum = 3"), Contains("must be < 2/(1 + s c) = 0.5"));
  CHECK(problem("relaxation.step = 0.5\ndamping.maximum = 2.9").empty());
  CHECK(problem("relaxation.step = 0.5\nmodel.attention_gain = 0").empty());
  CHECK(problem("relaxation.step = 1\nrelaxation.solver = 'dopri5'").empty());
  CHECK_THAT(problem("relaxation.average_free = 25"), Contains("must be <= relaxation.free_steps = 24"));
  CHECK_THAT(problem("relaxation.average_nudged = 25"), Contains("must be <= relaxation.nudged_steps = 24"));
  CHECK_THAT(problem("train.skip_ratio = 0.5"), Contains("must be > 1, or 0"));
  CHECK_THAT(problem("nudge.points = 5"), Contains("must be even"));
  CHECK_THAT(problem("estimator = 'aep_tracked'\nnudge.sides = 'positive'"), Contains("must be centered"));
}

TEST_CASE("the keys are listed as Markdown and as help") {
  const Folder folder;
  CHECK_THAT(run_nudge(folder, "config keys").output, Contains("| `train.steps` | 1000 | whole number in [1, 1e9] |"));
  const Outcome help = run_nudge(folder, "config --help-keys");
  CHECK(help.exit_code == 0);
  CHECK_THAT(help.output, Contains("circuit.time_constant = 25 ns\n    quantity in s > 0 s;"));
}
