// SPDX-License-Identifier: Apache-2.0
// What commands say of a run is true of this run: its keys, its phases, what was decided for it.
#include <nlohmann/json.hpp>

#include "sim/io/h5_reader.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kDigits = NUDGE_SOURCE_DIR "/examples/digits.toml";
const std::string kDiodes = NUDGE_SOURCE_DIR "/examples/netlist_diodes.toml";
const std::string kShort = " --set train.steps=2 --set train.evaluate_every=end --set train.null=off";

}  // namespace

TEST_CASE("the values that were decided for a run are told once, all of them", "[train]") {
  const Folder folder;
  const Outcome run = run_nudge(folder, "train " + kDigits + kShort + " --set device.preset=ecram --out run.h5");
  REQUIRE(run.exit_code == 0);
  const std::string told = run.errors.substr(0, run.errors.find("\nstep "));
  for (const std::string& key : H5Reader(folder.file("run.h5")).texts("given/key", H5Shape{-1})) {
    CAPTURE(key);
    CHECK_THAT(told, Contains(key));
  }
  CHECK_THAT(told, !Contains(" more"));
}

TEST_CASE("info shows keys that the run read, and its devices", "[info]") {
  const Folder folder;
  REQUIRE(run_nudge(folder, "train " + kDigits + kShort + " --set device.preset=ecram --out run.h5").exit_code == 0);
  const auto config = nlohmann::json::parse(run_nudge(folder, "info run.h5 --json").output)["config"];
  CHECK(config["device.preset"] == "ecram");
  CHECK(config["hopfield.hidden"] == "[128]");
  for (const char* key : {"model.channels", "model.tokens", "model.heads", "data.text"})
    CHECK_FALSE(config.contains(key));
}

TEST_CASE("gradcheck tells how free phases go: a direct solution takes no steps of tau", "[gradcheck]") {
  const Folder folder;
  const std::string quick = " --set gradcheck.finite_difference_entries=0 --set gradcheck.batches=1";
  const std::string examples = NUDGE_SOURCE_DIR "/examples/";
  const Outcome solved = run_nudge(folder, "gradcheck " + kDiodes + quick + " --set netlist.file=" + examples +
                                               "resistive_diodes.cir --set data.file=" + examples + "grid.csv");
  INFO(solved.errors);
  CHECK_THAT(solved.output, Contains("after a direct solution") && !Contains(" tau: mean") && !Contains("damping"));
  const Outcome swept = run_nudge(folder, "gradcheck " + kDigits + quick);
  CHECK_THAT(swept.output, Contains("after at most 10 sweeps"));
}

TEST_CASE("what only gradcheck asks hinders no training", "[train]") {
  const Folder folder;
  const std::string asked = " --set 'gradcheck.estimators=[\"dyadic\"]'";
  CHECK(run_nudge(folder, "train " + kDigits + kShort + asked + " --out run.h5").exit_code == 0);
  const Outcome refused = run_nudge(folder, "gradcheck " + kDigits + asked);
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.errors, Contains("--set: gradcheck.estimators") && Contains("names dyadic, which does not fit"));
  CHECK(run_nudge(folder, "config check " + kDigits + asked).exit_code == 2);
}

TEST_CASE("a dry run of advise speaks of rules, not of columns of its file", "[advise]") {
  const Folder folder;
  const Outcome dry = run_nudge(folder, "advise " + kDigits + kShort +
                                            " --set device.preset=ecram --set 'compare.tuning_seeds=[1]' --set "
                                            "'compare.test_seeds=[11]' --dry-run");
  INFO(dry.errors);
  REQUIRE(dry.exit_code == 0);
  CHECK_THAT(dry.output, Contains("write_verify") && !Contains("entrant"));
}

TEST_CASE("one free step stops before its steps are over, with the key that mends it", "[train]") {
  const Folder folder;
  const Outcome run =
      run_nudge(folder, "train " + kDigits + " --set relaxation.free_steps=1 --set train.steps=2000 --out run.h5");
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.errors, Contains("warning: free phase too short") && Contains("raise relaxation.free_steps"));
  CHECK(H5Reader(folder.file("run.h5")).shape("train/step").front() < 300);
}

TEST_CASE("a run that a constant answer beats fails where its states never came to rest, not where they did",
          "[train]") {
  const Folder folder;
  const std::string untrained =
      "train " + kDigits + " --set train.steps=12 --set train.learning_rate=1e-9 --set train.null=off";
  const Outcome restless = run_nudge(folder, untrained + " --set relaxation.free_steps=2 --out restless.h5");
  CHECK(restless.exit_code == 3);
  CHECK_THAT(restless.errors, Contains("the run failed: free phase too short") && Contains("What may help: 6 steps"));
  CHECK(run_nudge(folder, untrained + " --set relaxation.free_steps=6 --out rests.h5").exit_code == 0);
  const auto shares = [&](const std::string& file) {
    return nlohmann::json::parse(run_nudge(folder, "info " + file + " --json").output)["equilibrium"];
  };
  CHECK(shares("restless.h5")["settled"] == 0.0);
  CHECK(shares("rests.h5")["settled"] == 1.0);
  CHECK(shares("rests.h5")["unstable"] == 0.0);
  CHECK_THAT(shares("rests.h5")["verdict"].get<std::string>(), Contains("settled: residual"));
  CHECK_THAT(run_nudge(folder, "info rests.h5").output, Contains("equilibrium\n  settled              1\n"));
}

TEST_CASE("a run whose loss explodes fails with one evaluation too, one that saturates and learns does not",
          "[train]") {
  const Folder folder;
  const std::string thermal = NUDGE_SOURCE_DIR "/examples/thermal.toml";
  // Single samples make the mean of the losses some 1e16: no interval tells it from a constant answer.
  const Outcome lost =
      run_nudge(folder, "train " + thermal + " --set train.learning_rate=0.3 --set train.steps=100 --out a.h5");
  CHECK(lost.exit_code == 3);
  CHECK_THAT(lost.errors, Contains("the run failed: the loss rose from 5"));
  // Nine of ten units saturate, and so have no gradient of samples that are right: 96 % of the test digits, chance 10 %.
  const Outcome learnt = run_nudge(folder, "train " + kDigits + " --set hopfield.hidden=[512] --set train.steps=120 " +
                                               "--set train.learning_rate=0.03 --out b.h5");
  INFO(learnt.errors);
  CHECK(learnt.exit_code == 0);
}

TEST_CASE("of stability nothing is said where there is no equilibrium, and the verdict says why", "[stability]") {
  const Folder folder;
  const std::string wild = kDigits + " --set relaxation.schedule=parallel --set relaxation.step=1.5";
  for (const char* gain : {"1", "2", "4"}) {
    CAPTURE(gain);
    const Outcome lost = run_nudge(folder, "stability " + wild + " --chips 1 --set hopfield.gain=" + gain);
    CHECK(lost.exit_code == 3);
    CHECK_THAT(lost.output, Contains("nothing is known of stability") &&
                                (Contains("goes up and down") || Contains("no longer falls")) &&
                                !Contains("unstable") && !Contains("abscissa") && !Contains("leading"));
  }
  // What is fed forward is stable for any weights: there is no margin beyond which anything follows.
  const Outcome forward =
      run_nudge(folder, std::string("stability ") + NUDGE_SOURCE_DIR + "/examples/transformer.toml --chips 1");
  CHECK_THAT(forward.output, Contains("stable for any weights") && !Contains("beyond the margin"));
  const Outcome check = run_nudge(folder, "gradcheck " + wild + " --set hopfield.gain=2");
  CHECK_THAT(check.output, Contains("Jacobian at no equilibrium") && !Contains("unstable") && !Contains("abscissa"));
  // A sweep has no rate |1 + eps lambda|, parallel steps have.
  CHECK_THAT(run_nudge(folder, "gradcheck " + kDigits).output, Contains("abscissa -0.36") && !Contains("rho ="));
  const std::string calm = kDigits + " --set relaxation.schedule=parallel --set relaxation.step=0.5";
  CHECK_THAT(run_nudge(folder, "gradcheck " + calm).output, Contains("rho = 0.8152 per step"));
}

TEST_CASE("a phase that its tolerance ended is told so by every command", "[equilibrium]") {
  const Folder folder;
  const std::string loose = kDigits +
                            " --set relaxation.schedule=parallel --set relaxation.step=0.5 --set "
                            "relaxation.tolerance=0.3 --set relaxation.free_steps=100";
  const std::string words = "free phase stopped early: residual", help = "lower relaxation.tolerance to 1e-03";
  CHECK_THAT(run_nudge(folder, "stability " + loose + " --chips 1").output, Contains(words) && Contains(help));
  CHECK_THAT(run_nudge(folder, "gradcheck " + loose).output, Contains(words) && Contains(help));
  const Outcome run = run_nudge(folder, "train " + loose + " --set train.steps=2 --out run.h5");
  CHECK_THAT(run.errors, Contains(words) && Contains(help));
  const auto told = nlohmann::json::parse(run_nudge(folder, "info run.h5 --json").output)["equilibrium"];
  CHECK(told["ended"] == "converged");
  CHECK_THAT(told["verdict"].get<std::string>(), Contains(words));
  // So lowered it settles.
  CHECK_THAT(run_nudge(folder, "stability " + loose + " --chips 1 --set relaxation.tolerance=1e-3").output,
             Contains("settled: residual"));
}

TEST_CASE("keys without an effect are named by every command that would read them with devices", "[config]") {
  const Folder folder;
  const std::string warning = "no effect while device.model = \"digital\": ";
  for (const std::string key :
       {"device.g_max=20 uS", "crossbar.forward_noise=10 nV", "circuit.hold_offset=1 mV", "circuit.thermal_noise=true",
        "circuit.temperature=350", "circuit.node_capacitance=1 pF", "reads.chopped=true", "reads.free=ideal",
        "hardware.level=local", "circuit.amplifier=opa847"}) {
    CAPTURE(key);
    const std::string set = " --set '" + key + "'", name = key.substr(0, key.find('='));
    for (const std::string command : {"config check ", "train ", "gradcheck "}) {
      CAPTURE(command);
      const std::string more = command == "train " ? kShort + " --out " + name + ".h5" : "";
      CHECK_THAT(run_nudge(folder, command + kDigits + more + set).errors, Contains(warning + name));
    }
    CHECK_THAT(run_nudge(folder, "config check " + kDigits + set + " --set device.preset=ecram").errors,
               !Contains(warning));
  }
  CHECK_THAT(run_nudge(folder, "config check " + kDigits + " --set hardware.level=ideal").errors, !Contains(warning));
  // A step that is set leaves no fraction to follow.
  CHECK_THAT(run_nudge(folder, "config check " + kDigits + " --set relaxation.step_fraction=0.5").errors,
             Contains("relaxation.step_fraction = 0.5 (nothing reads it: relaxation.step = 1; auto would)"));
  // Sweeps have no time for a lag, but amplifiers have a power.
  CHECK_THAT(
      run_nudge(folder, "config check " + kDigits + " --set device.preset=ecram --set circuit.gain_bandwidth=1e3")
          .errors,
      Contains("circuit.gain_bandwidth sets the power of amplifiers alone"));
  // A width alone gives no energy of a pulse.
  CHECK_THAT(
      run_nudge(folder, "config check " + kDigits + " --set device.preset=ecram --set device.pulse_width_up=1e-6")
          .errors,
      Contains("device.pulse_width_up = 1 us (nothing reads it: device.pulse_voltage_up = 0 V"));
}
