// SPDX-License-Identifier: Apache-2.0
#include "training/config/hardware.hpp"
#include "tests/support/catch.hpp"

#include "sim/base/errors.hpp"
#include "training/check/choices.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/learning/estimators/registry.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

Config of(const std::vector<std::string>& settings, const std::string& text = "") {
  return parse_program_config("h.toml", text, settings);
}

const std::vector<std::string> tiny = {"model.channels=16", "model.tokens=8", "model.memories=32",
                                       "model.heads=2",     "train.batch=4",  "device.model=soft_bounds"};

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

}  // namespace

TEST_CASE("physics is on as soon as there are devices, and any key that is set wins", "[hardware]") {
  const Config digital = of({});
  CHECK_FALSE(digital.flag("circuit.thermal_noise"));
  CHECK(ideal_parts(digital).empty());
  const Config devices = of({"device.preset=ecram"});
  CHECK(devices.flag("circuit.thermal_noise"));
  CHECK(devices.text("device.update") == "pulsed");
  CHECK(devices.text("estimator") == "aep_transposed");
  CHECK(devices.real("circuit.leak_spread") == 0.01);
  CHECK(devices.origin("circuit.thermal_noise").where.find("hardware.level") == 0);
  CHECK(ideal_parts(devices).empty());
  const Config ideal = of({"device.preset=ecram", "hardware.level=ideal"});
  CHECK_FALSE(ideal.flag("circuit.thermal_noise"));
  CHECK(ideal.text("estimator") == "aep_anchored");
  CHECK(ideal_parts(ideal) == std::vector<std::string>{"hardware.level = ideal"});
  const Config mixed = of({"circuit.leak_spread=0"}, "[device]\npreset = 'ecram'\n[circuit]\nthermal_noise = false\n");
  CHECK_FALSE(mixed.flag("circuit.thermal_noise"));
  CHECK(mixed.real("crossbar.forward_noise") == 5e-9);
  CHECK(ideal_parts(mixed) == std::vector<std::string>{"circuit.thermal_noise = false", "circuit.leak_spread = 0"});
  // A preset of the program stands above the level.
  CHECK(of({"device.preset=ecram", "preset=founding_note"}).text("estimator") == "aep");
}

TEST_CASE("a circuit gets of the level what it has a place for", "[hardware]") {
  const Config sweeps = of({"device.preset=ecram", "relaxation.schedule=sweep", "network.kind=transformer",
                            "relaxation.step=1", "relaxation.free_steps=1", "relaxation.nudged_steps=6"});
  CHECK(sweeps.real("circuit.amplifier_bandwidth") == 0);
  CHECK(sweeps.real("circuit.leak_spread") == 0);
  CHECK(sweeps.integer("relaxation.average_free") == 1);
  CHECK(sweeps.integer("relaxation.average_nudged") == 3);
  const Config resistive =
      of({"device.preset=ecram", "network.kind=resistive", "task.kind=classification", "estimator=ep"});
  CHECK(resistive.flag("circuit.thermal_noise"));
  CHECK(resistive.real("crossbar.forward_noise") == 0);
  CHECK(resistive.text("nudge.cost_current") == "live");
  // Phases of oscillators have no clamp that could differ: a mismatch pulled them to 0.
  const std::vector<std::string> oscillators = {"device.preset=ecram", "network.kind=oscillator",
                                                "task.kind=classification", "estimator=ep"};
  CHECK(of(oscillators).real("circuit.leak_spread") == 0);
  std::vector<std::string> unequal = oscillators;
  unequal.push_back("circuit.leak_spread=0.05");
  CHECK_THROWS_WITH(of(unequal), Contains("circuit.leak_spread = 0.05 (nothing reads it: network.kind = oscillator; a "
                                          "network whose nodes have a clamp, a leak of their own would"));
  CHECK_THROWS_WITH(
      of({"device.preset=ecram", "relaxation.solver=anderson"}),
      Contains("relaxation.solver = anderson (does not fit: hardware.level must be ideal on devices: it does not "
               "follow their noise; euler, second_order or rk4 would)"));
  CHECK_NOTHROW(of({"device.preset=ecram", "relaxation.solver=anderson", "hardware.level=ideal"}));
  CHECK_THROWS_WITH(of({"device.preset=ecram", "relaxation.schedule=sweep", "circuit.leak_spread=0.01"}),
                    Contains("relaxation.schedule = sweep (does not fit: circuit.leak_spread must be 0") &&
                        Contains("; parallel would)"));
}

TEST_CASE("what a run records of a level is the config that made it", "[hardware]") {
  const Config devices = of({"device.preset=reram_sb"});
  const Config again = of({}, dump_toml(devices));
  CHECK(difference(devices, again).empty());
}

TEST_CASE("an automatic nudge rises above the noise of its nodes", "[hardware]") {
  const Config config =
      of(with(tiny, {"circuit.time_constant=25 ns"}));  // fast nodes average little of the amplifiers' noise
  const RunParts parts = run_parts(config);
  const NudgeChoice chosen = chosen_nudge(config, parts);
  REQUIRE(chosen.measured());
  CHECK(chosen.signal.snr() > 5);  // wanted: 10, of which the measurement of few nodes knows a quarter
  CHECK(chosen.beta > 10 * default_beta<float>("aep_transposed"));
  CHECK(nudge_warning(config, chosen).empty());
  const Config settled = with_nudge(config, chosen);
  CHECK(settled.real("beta") == chosen.beta);
  CHECK(chosen_nudge(settled, parts).beta == chosen.beta);
  CHECK_FALSE(chosen_nudge(of({}), run_parts(of({}))).measured());
}

TEST_CASE("what the law of a nudge leaves below the noise is averaged longer", "[hardware]") {
  const std::vector<std::string> hot = {
      "network.kind=hopfield",    "task.kind=classification", "hopfield.hidden=[32]",         "estimator=ep",
      "device.model=soft_bounds", "train.batch=16",           "circuit.node_capacitance=2 fF"};
  const Config config = of(hot);
  const RunParts parts = run_parts(config);
  const NudgeChoice longer = chosen_nudge(config, parts);
  const NudgeChoice fixed = chosen_nudge(of(with(hot, {"relaxation.average_nudged=12"})), parts);
  REQUIRE(fixed.average == 0);
  REQUIRE(fixed.signal.snr() < 7);
  CHECK(longer.average > 24);
  CHECK(longer.average <= 48);
  // Noise that the states do not share falls with the root of their number, 2 here; what they share stays.
  CHECK(longer.signal.snr() > 1.3 * fixed.signal.snr());
  const Config settled = with_nudge(config, longer);
  CHECK(settled.integer("relaxation.average_nudged") == longer.average);
  CHECK(settled.integer("relaxation.nudged_steps") ==
        config.integer("relaxation.nudged_steps") + longer.average - config.integer("relaxation.average_nudged"));
  CHECK(difference(settled_as(settled, config), settled).empty());
  const Config other = of(with(hot, {"relaxation.nudged_steps=50"}));  // steps that a user had set are no such choice
  CHECK(settled_as(other, config).integer("relaxation.nudged_steps") == config.integer("relaxation.nudged_steps"));
}

TEST_CASE("a nudge below the noise is warned of, far below it refused unless asked for", "[hardware]") {
  const Config low = of(with(tiny, {"beta=1e-4", "estimator=aep_anchored"}));
  const RunParts parts = run_parts(low);
  const NudgeChoice choice = chosen_nudge(low, parts);
  CHECK(choice.signal.snr() < 0.3);
  CHECK_THAT(nudge_warning(low, choice), Contains("below the noise of the nodes"));
  NudgeChoice drowned = choice;
  drowned.signal.moved = drowned.signal.in_moved / drowned.signal.measured * drowned.signal.counted;  // v = 0
  CHECK_THROWS_WITH(check_nudge(low, drowned), Contains("beta = ") && Contains("nudge.below_noise = true"));
  CHECK_NOTHROW(check_nudge(of(with(tiny, {"nudge.below_noise=true"})), drowned));
}

TEST_CASE("whatever beta a nudge that noise hides has, the advised one is about the automatic one", "[hardware]") {
  const std::vector<std::string> digits = {"estimator=ep", "network.kind=hopfield", "task.kind=classification",
                                           "hopfield.hidden=[32]", "device.preset=ecram"};
  const Config config = of(digits);
  const RunParts parts = run_parts(config);
  const double automatic = chosen_nudge(config, parts).beta;
  // From any decade: a step of ten passes over the betas that are seen and still linear, where they span less.
  for (const double beta : {1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3}) {
    CAPTURE(beta);
    const NudgeChoice choice = chosen_nudge(of(with(digits, {fmt::format("beta={}", beta)})), parts);
    REQUIRE(choice.seen);
    const double advised = beta * 10 / choice.signal.snr();
    CHECK(advised > 0.5 * automatic);
    CHECK(advised < 2 * automatic);
  }
}

TEST_CASE("a nudge and a noise that a converter hides are told as such, and are no ratio", "[hardware]") {
  // Two bits tell four states apart: what moves by less than half of such a step is read as if it stood still, noise as well.
  const Config config =
      of({"network.kind=thermal", "task.kind=classification", "thermal.hidden=[8]", "device.model=soft_bounds",
          "train.batch=4", "circuit.phase_adc_bits=2", "relaxation.free_steps=20", "relaxation.nudged_steps=20"});
  const NudgeChoice found = chosen_nudge(config, run_parts(config));
  CHECK_THAT(nudge_text(config, found) + nudge_warning(config, found), !Contains("nan") && !Contains("inf"));

  NudgeChoice still{1e-3};
  still.signal = {0, 1, 0, 0, 1};
  REQUIRE(still.measured());
  CHECK_THAT(nudge_text(config, still), Contains("moves no node") && !Contains("signal-to-noise"));
  CHECK_THAT(nudge_warning(config, still), Contains("every gradient would be 0: use a larger beta, or raise "
                                                    "circuit.phase_adc_bits = 2") &&
                                               !Contains("nan"));
  CHECK_THROWS_WITH(check_nudge(config, still), Contains("beta = ") && Contains("circuit.phase_adc_bits = 2") &&
                                                    Contains("nudge.below_noise = true") && !Contains("nan"));
  CHECK_THAT(nudge_warning(of(with(tiny, {"circuit.phase_adc_bits=0"})), still),
             Contains("use a larger beta") && !Contains("phase_adc_bits"));
  NudgeChoice silent{1e-3};
  silent.signal = {1, 1, 0, 0, 1};  // moved, and no noise
  CHECK_THAT(nudge_text(config, silent), Contains("reads have no noise") && !Contains("inf"));
  CHECK(nudge_warning(config, silent).empty());
}
