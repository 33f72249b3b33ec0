// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kConfig =
    "precision = 'double'\n[hardware]\nlevel = 'ideal'\n[model]\nchannels = 2\ntokens = 3\nmemories = 0\nheads = 1\n"
    "attention_gain = 0\ncoupling_scale = 0.3\n[damping]\ncontrol = false\n[train]\nbatch = 2\nsteps = 2\n"
    "evaluation_batches = 1\n[relaxation]\nstep = 0.1\nfree_steps = 40\nnudged_steps = 40\n";

}  // namespace

TEST_CASE("stability of a config and of a run: abscissa, frequency, margin and yield", "[apps]") {
  const Folder folder;
  folder.write("two.toml", kConfig);
  const Outcome text = run_nudge(folder, "stability two.toml --chips 3");
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.output, Contains("yield: 3 of 3 chips settle") && Contains("abscissa"));
  const auto json = nlohmann::json::parse(run_nudge(folder, "stability two.toml --chips 3 --json").output);
  CHECK(json["margin"].get<double>() == -json["abscissa"].get<double>());
  CHECK(json["hopf_frequency"].get<double>() >= 0);
  CHECK(json["yield"] == 1);
  CHECK(json["yield_interval"][1].get<double>() > 0.99);
  CHECK(json["chips"].size() == 3);
  // A run: its trained weights, not those of its config; its other chips have the same ones, which exact numbers hold.
  REQUIRE(run_nudge(folder, "train two.toml --out run.h5 --set train.learning_rate=0.3").exit_code == 0);
  const Outcome same = run_nudge(folder, "stability run.h5 --chips 2 --json");
  CHECK_THAT(same.errors, Contains("chips differ in their initial weights at most"));
  const auto run = nlohmann::json::parse(same.output);
  CHECK(run["abscissa"] != json["abscissa"]);
  CHECK(run["chips"][0]["abscissa"].get<double>() == Approx(run["chips"][1]["abscissa"].get<double>()).margin(1e-6));
}

TEST_CASE("stability: a chip that does not settle is a numerical failure, what has none the user's error", "[apps]") {
  const Folder folder;
  folder.write("two.toml", kConfig);
  // Of these seeds' couplings one in two has an eigenvalue to the right; that of seed 3 has.
  const Outcome lost =
      run_nudge(folder, "stability two.toml --chips 1 --set model.coupling_scale=40 --set seed=3 --json");
  CHECK(lost.exit_code == 3);
  const auto json = nlohmann::json::parse(lost.output);
  CHECK(json["yield"] == 0);
  CHECK(json["abscissa"].get<double>() > 0);
  CHECK(run_nudge(folder, "stability two.toml --chips 0").exit_code == 2);
  const Outcome none = run_nudge(folder, "stability two.toml --set network.kind=sequence_model");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.errors, Contains("does not settle"));
}

TEST_CASE("stability --follow lowers the damping of a block until its equilibrium is lost, and what settles agrees",
          "[apps]") {
  const Folder folder;
  const std::string block =
      "stability block.toml --json --chips 1 --set seed=8 --set model.attention_scale=4 --set threads=1 ";
  folder.write("block.toml",
               "[model]\nchannels = 16\ntokens = 8\nmemories = 0\nheads = 2\ndamping = 2\n[train]\nbatch = 1\n"
               "[relaxation]\nfree_steps = 200\n");
  const Outcome run = run_nudge(folder, block + "--follow model.damping=0.9");
  CHECK(run.exit_code == 0);
  const auto json = nlohmann::json::parse(run.output);
  CHECK(json["continuation_key"] == "model.damping");
  CHECK(json["continuation"][0]["parameter"] == 2);
  CHECK(json["continuation"][0]["abscissa"].get<double>() == Approx(json["abscissa"].get<double>()).margin(1e-4));
  const auto lost = std::find_if(json["continuation"].begin(), json["continuation"].end(),
                                 [](const nlohmann::json& point) { return point["kind"] != "regular"; });
  REQUIRE(lost != json["continuation"].end());
  CHECK((*lost)["kind"] == "hopf");
  CHECK((*lost)["unstable"] == 0);
  // Networks made at the damping itself and relaxed step by step: the equilibrium is stable on one side of the point and not on the
  // other, and 1 % beside it the abscissa, which falls by less than the damping rises, is no further from 0 than that.
  const double at = (*lost)["parameter"].get<double>();
  for (const double side : {0.99, 1.01}) {
    const Outcome beside = run_nudge(folder, block + fmt::format("--set model.damping={}", side * at));
    const auto found = nlohmann::json::parse(beside.output);
    CAPTURE(at, side);
    CHECK((found["abscissa"].get<double>() > 0) == (side < 1));
    CHECK(beside.exit_code == (side < 1 ? 3 : 0));
    CHECK(found["hopf_frequency"].get<double>() == Approx((*lost)["frequency"].get<double>()).epsilon(0.02));
  }
  const Outcome unsaid = run_nudge(folder, block + "--follow model.damping");
  CHECK(unsaid.exit_code == 2);
  CHECK_THAT(unsaid.errors, Contains("--follow model.damping (must be KEY=TO"));
  const Outcome unknown = run_nudge(folder, block + "--follow model.dampin=1");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.errors, Contains("--follow: unknown key model.dampin"));
  const Outcome broken = run_nudge(folder, block + "--follow model.damping=-1");
  CHECK(broken.exit_code == 2);
  CHECK_THAT(broken.errors, Contains("--follow: model.damping = -1"));
}
