// SPDX-License-Identifier: Apache-2.0
// nudge spec at toy size: the sheet, a twin by sweep and train, parts and ranks, a key without effect, wrong input.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/run_ranks.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kToy = read_file(NUDGE_SOURCE_DIR "/tests/support/toy_spec.toml");

nlohmann::json json_of_run(const Outcome& done) {
  INFO(done.errors);
  REQUIRE(done.exit_code == 0);
  auto json = nlohmann::json::parse(done.output);
  json.erase("file");
  return json;
}

}  // namespace

TEST_CASE("spec prints requirements, and its runs are those of sweep and train", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", kToy);
  const Outcome dry = run_nudge(folder, "spec toy.toml --dry-run");
  CHECK(dry.exit_code == 0);
  // 3 seeds: exact, frozen, clean, design; of 2 keys alone 2, together 3; 2 designs.
  CHECK_THAT(dry.output, Contains("at most 48 trainings") && Contains("time: about"));
  CHECK(!std::filesystem::exists(folder.file("toy.h5")));
  const auto json = json_of_run(run_nudge(folder, "spec toy.toml --out a.h5 --json"));
  CHECK(json["metric"] == "test_loss");
  REQUIRE(json["requirements"].size() == 2);
  for (const auto& one : json["requirements"]) {
    for (const char* name : {"key", "value", "interval", "margin", "alone", "outcome", "verdict"})
      CHECK(one.contains(name));
    CHECK(one["interval"].size() == 2);
    CHECK((one["outcome"] == "found") == !one["value"].is_null());
  }
  CHECK(json["most_runs"] == 48);
  CHECK(json["runs"] <= 48);
  REQUIRE(!json["pareto"].empty());
  for (const auto& one : json["pareto"]) CHECK((one["inference_energy"] > 0 && one["latency"] > 0 && one["area"] > 0));
  // The design is what a sweep of the config trains.
  const auto sweep = json_of_run(run_nudge(
      folder,
      "sweep toy.toml --out s.h5 --json --set sweep.test=true --set 'sweep.seeds=[1, 2, 3]' --set data.split_seed=seed"
      " --set 'sweep.grid.device.read_noise=[\"1 %\"]'"));
  CHECK(json["design"]["mean"].get<double>() == Approx(sweep["summary"][0]["test_loss"]["mean"]).epsilon(1e-12));
  CHECK(json["design_cost"]["area"].get<double>() == Approx(sweep["points"][0]["area"].get<double>()).epsilon(1e-12));
  // The cost of a point is the card of its training.
  REQUIRE(run_nudge(folder, "train toy.toml --out t.h5 --set train.null=off --set data.split_seed=seed").exit_code ==
          0);
  const auto card = json_of_run(run_nudge(folder, "info t.h5 --card --json"));
  CHECK(sweep["points"][0]["inference_energy"].get<double>() ==
        Approx(card["inference_J"].get<double>()).epsilon(1e-12));
  CHECK(sweep["points"][0]["latency"].get<double>() == Approx(card["inference_s"].get<double>()).epsilon(1e-12));
  CHECK(sweep["points"][0]["step_energy"].get<double>() == Approx(card["step_J"].get<double>()).epsilon(1e-9));
  // A gradient has the costs of its training: its phases are the same.
  const auto gradients = json_of_run(run_nudge(
      folder,
      "sweep toy.toml --out g.h5 --json --set sweep.run=gradcheck --set 'sweep.grid.device.read_noise=[\"1 %\"]'"));
  const auto& gradient = gradients["points"][0];
  CHECK(gradient["latency"].get<double>() == Approx(card["inference_s"].get<double>()).epsilon(1e-12));
  CHECK(gradient["step_time"].get<double>() == Approx(card["step_phases_s"].get<double>()).epsilon(1e-12));
  CHECK(gradient["step_energy"].get<double>() == Approx(card["step_J"].get<double>()).epsilon(0.2));  // writes differ
  for (const char* file : {"s.h5", "a.h5", "g.h5"}) {
    const Outcome costs = run_nudge(folder, fmt::format("info {} --card", file));
    CHECK(costs.exit_code == 0);
    CHECK_THAT(costs.output, Contains("per inference") && Contains("um^2"));
    CHECK(run_nudge(folder, fmt::format("info {}", file)).exit_code == 0);
  }
  CHECK(run_nudge(folder, "info s.h5 --card --set 'chip.node=\"22 nm\"'").exit_code == 2);
  // A finished specification prints its sheet again.
  const Outcome again = run_nudge(folder, "spec toy.toml --resume a.h5");
  CHECK(again.exit_code == 0);
  CHECK_THAT(again.output, Contains("A requirement stands where 10 % is lost") && Contains("Pareto front"));
  CHECK(json_of_run(run_nudge(folder, "spec toy.toml --resume a.h5 --json")) == json);
}

TEST_CASE("spec in parts, on ranks and resumed gives the same bits", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", kToy);
  const std::string all = " --set 'spec.keys=[\"device.read_noise\"]'";
  const auto whole = json_of_run(run_nudge(folder, "spec toy.toml --out whole.h5 --json" + all));
  for (int stage = 0; stage < 8; ++stage) {
    bool waits = false;
    for (int part = 1; part <= 2; ++part) {
      std::filesystem::remove(folder.file(fmt::format("p{}.h5", part)));
      if (stage > 0) std::filesystem::copy_file(folder.file("joined.h5"), folder.file(fmt::format("p{}.h5", part)));
      const Outcome done = run_nudge(
          folder,
          fmt::format("spec toy.toml --shard {0}/2 {1} p{0}.h5", part, stage == 0 ? "--out" : "--resume") + all);
      INFO(done.errors);
      REQUIRE(done.exit_code == 0);
      waits = waits || done.output.find("nudge merge") != std::string::npos;
    }
    if (!waits) break;
    if (stage == 0) {  // a part alone is a start
      std::filesystem::copy_file(folder.file("p1.h5"), folder.file("half.h5"));
    }
    std::filesystem::remove(folder.file("joined.h5"));
    const Outcome merged = run_nudge(folder, "merge p1.h5 p2.h5 --out joined.h5");
    INFO(merged.errors);
    REQUIRE(merged.exit_code == 0);
  }
  CHECK(json_of_run(run_nudge(folder, "spec toy.toml --resume joined.h5 --json" + all)) == whole);
  CHECK(json_of_run(run_nudge(folder, "spec toy.toml --resume half.h5 --json" + all)) == whole);
#ifdef NUDGE_MPIRUN
  CHECK(json_of_run(run_ranks(folder, 2, "spec toy.toml --out ranks.h5 --json" + all)) == whole);
#endif
}

TEST_CASE("a key that changes nothing has no requirement", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", kToy);
  // Tiles of an array without wires: every loss is 0, below the bound.
  const auto json = json_of_run(run_nudge(folder,
                                          "spec toy.toml --out a.h5 --json --set 'spec.keys=[\"crossbar.tile_rows\"]'"
                                          " --set 'spec.range.crossbar.tile_rows=[4, 12]' --set spec.designs=0"));
  REQUIRE(json["requirements"].size() == 1);
  const auto& alone = json["requirements"][0]["alone"];
  CHECK((alone["outcome"] == "beyond" && alone["value"].is_null() && alone["interval"][1].is_null()));
  CHECK(alone["beyond"] == 12);
  CHECK(alone["text"] == "> 12");
}

TEST_CASE("spec that has nothing to lose says so", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", kToy);
  const Outcome done = run_nudge(folder, "spec toy.toml --out a.h5 --json --set train.learning_rate=1e-9");
  CHECK(done.exit_code == 3);
  const auto json = nlohmann::json::parse(done.output);
  CHECK(json["requirements"].empty());
  CHECK_THAT(json["unknown"].get<std::string>(), Contains("not significantly better"));
}

TEST_CASE("spec names what is wrong before it runs anything", "[apps]") {
  const Folder folder;
  folder.write("toy.toml", kToy);
  const auto refused = [&](const std::string& arguments) {
    const Outcome done = run_nudge(folder, "spec toy.toml --out none.h5 " + arguments);
    CHECK(done.exit_code == 2);
    CHECK(!std::filesystem::exists(folder.file("none.h5")));
    return done.errors;
  };
  CHECK_THAT(refused("--set 'spec.keys=[\"device.read_nose\"]'"),
             Contains("toy.toml") && Contains("device.read_noise"));
  CHECK_THAT(refused("--set 'spec.range.device.read_noise=[0, -1]'"), Contains("spec.range.device.read_noise"));
  CHECK_THAT(refused("--set spec.runs=5"), Contains("spec.runs = 5") && Contains("Raise it"));
  CHECK_THAT(refused("--set device.preset= --set device.model=digital"), Contains("device.model"));
  CHECK_THAT(refused("--shard 3/2"), Contains("--shard"));
  CHECK_THAT(refused("--set 'spec.keys=[\"crossbar.tile_rows\"]' --set 'spec.range.crossbar.tile_rows=[4, 64]'"),
             Contains("crossbar.tile_columns = 64 (must be <= 12"));
  folder.write("bad.toml", "[spec]\nloss = 2\n");
  const Outcome bad = run_nudge(folder, "spec bad.toml --out none.h5");
  CHECK(bad.exit_code == 2);
  CHECK_THAT(bad.errors, Contains("bad.toml:2") && Contains("spec.loss"));
  folder.write("there.h5", "x");
  CHECK(run_nudge(folder, "spec toy.toml --out there.h5").exit_code == 2);
  CHECK(read_file(folder.file("there.h5")) == "x");
}
