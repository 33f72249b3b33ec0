// SPDX-License-Identifier: Apache-2.0
// nudge benchmark at toy size: score, rank, resume, shards, labels without meaning, wrong input.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/apps/run_ranks.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

// The shipped digits by 12 hidden units. Without trivial models frozen devices are the null: 60 steps beat no linear model.
const std::string kToy =
    " --network hopfield --rule pulses --rule write_verify --set data.file= --set data.test_fraction=0.2"
    " --set task.references=off --set 'hopfield.hidden=[12]' --set train.steps=60 --set threads=1"
    " --set 'compare.test_seeds=[11, 12, 13]' --set 'compare.grid.train.learning_rate=[4e-3]'";

nlohmann::json json_after(const Outcome& done) {
  INFO(done.errors);
  REQUIRE(done.exit_code == 0);
  return nlohmann::json::parse(done.output);
}

double mean_of(const nlohmann::json& scores) {
  double sum = 0;
  for (const auto& one : scores) sum += one.get<double>() / static_cast<double>(scores.size());
  return sum;
}

}  // namespace

TEST_CASE("benchmark scores a device and ranks another beside it", "[apps]") {
  const Folder folder;
  const auto json = json_after(run_nudge(folder, "benchmark ecram --out a --json" + kToy));
  const auto& network = json["devices"][0]["networks"][0];
  const auto& rules = network["rules"];
  REQUIRE(rules.size() == 2);
  const auto& chosen = rules[network["chosen_rule"] == "pulses" ? 0 : 1];
  CHECK(chosen["validation_loss"] <= rules[chosen["rule"] == "pulses" ? 1 : 0]["validation_loss"]);
  CHECK(network["strongest_null"] == "frozen devices");
  const double null = mean_of(network["nulls"]["frozen devices"]), exact = mean_of(network["exact"]);
  // Means of three scores: rounding.
  CHECK(json["score"].get<double>() == Approx((mean_of(chosen["scores"]) - null) / (exact - null)).epsilon(1e-9));
  CHECK((json["interval"][0] < json["score"] && json["score"] < json["interval"][1]));
  CHECK((json["rank"] == 1 && json["of"] == 1));
  for (const char* name : {"ecram.hopfield.h5", "ecram.json", "benchmark.html", "benchmark.svg"})
    CHECK(std::filesystem::exists(folder.file("a") + "/" + name));
  CHECK_THAT(read_file(folder.file("a/benchmark.html")), Contains("ecram: ") && Contains("<h2>Comparison"));
  CHECK(run_nudge(folder, "info a/ecram.hopfield.h5").exit_code == 0);  // a comparison like any other
  // A device of one's own, ranked beside the result above. Steps of half the range in a random direction learn little.
  folder.write("mine.toml", "[device]\npreset = 'ecram'\nwrite_noise = 3.0\n");
  const auto both = json_after(run_nudge(folder, "benchmark mine.toml --out b --zoo a --json" + kToy));
  CHECK(both["of"] == 2);
  REQUIRE(both["ranking"].size() == 2);
  for (const auto& row : both["ranking"]) CHECK(row["rank_interval"][0] <= row["rank"]);
  CHECK_THAT(read_file(folder.file("b/benchmark.svg")), Contains(">ecram<") && Contains("mine"));
  // With other settings the two are not compared.
  const Outcome other = run_nudge(folder, "benchmark --ranking --zoo a --set train.steps=61" + kToy);
  CHECK_THAT(other.output, Contains("No result of this protocol"));
  CHECK_THAT(run_nudge(folder, "benchmark --ranking --zoo a" + kToy).output, Contains("1 to 1"));
}

TEST_CASE("benchmark in parts, joined or resumed, is the unbroken one", "[apps]") {
  const Folder folder;
  const std::string all = kToy + " --set 'compare.test_seeds=[11, 12]' --json";
  const auto timeless = [&](const Outcome& done) {
    auto json = json_after(done)["devices"];
    for (auto& rule : json[0]["networks"][0]["rules"]) rule.erase("seconds");
    json[0].erase("date");
    return json;
  };
  const auto devices = [&](const std::string& arguments) {
    return timeless(run_nudge(folder, "benchmark " + arguments + all));
  };
  const auto whole = devices("ecram --out whole");
  for (const char* part : {"1", "2"}) {
    const Outcome done = run_nudge(folder, fmt::format("benchmark ecram --out p{0} --shard {0}/2", part) + kToy +
                                               " --set 'compare.test_seeds=[11, 12]'");
    CHECK(done.exit_code == 0);
    CHECK_THAT(done.output, Contains("nudge merge") && !Contains("score"));
  }
  std::filesystem::create_directories(folder.file("joined"));
  REQUIRE(
      run_nudge(folder, "merge p1/ecram.hopfield.h5 p2/ecram.hopfield.h5 --out joined/ecram.hopfield.h5").exit_code ==
      0);
  CHECK(devices("ecram --resume joined") == whole);
  CHECK(devices("ecram --resume p1") == whole);
  // Half of a tuning, whose runs have no test score: the time of the rest can be told.
  const std::string tuned = kToy + " --set 'compare.grid.train.learning_rate=[4e-3, 8e-3]'";
  REQUIRE(run_nudge(folder, "benchmark ecram --out t1 --shard 1/2" + tuned).exit_code == 0);
  const Outcome rest = run_nudge(folder, "benchmark ecram --resume t1 --dry-run" + tuned);
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.output, Contains("16 runs left of 20, about "));
#ifdef NUDGE_MPIRUN
  CHECK(timeless(run_ranks(folder, 2, "benchmark ecram --out ranks" + all)) == whole);
#endif
}

TEST_CASE("benchmark of labels without meaning tells no share that leaves out 0", "[apps]") {
  const Folder folder;
  std::mt19937 random(5);
  std::string csv = "class,a,b,c,d\n";
  for (int row = 0; row < 400; ++row) {
    csv += std::to_string(random() % 3);
    for (int k = 0; k < 4; ++k) csv += "," + std::to_string(static_cast<double>(random() % 1000) / 1000);
    csv += "\n";
  }
  folder.write("noise.csv", csv);
  const Outcome done = run_nudge(folder, "benchmark ecram --out a --json" + kToy + " --set data.file=noise.csv");
  const auto json = nlohmann::json::parse(done.output);
  if (json["score"].is_null()) {
    CHECK(done.exit_code == 3);
    CHECK_THAT(json["reason"].get<std::string>(), Contains("digital weights are not significantly better"));
    CHECK_THAT(done.errors, Contains("no device has a score"));
  } else {
    CHECK((json["interval"][0] <= 0.0 && 0.0 <= json["interval"][1]));
  }
}

TEST_CASE("benchmark none of whose runs ends well has no score", "[apps]") {
  const Folder folder;
  const Outcome done = run_nudge(folder, "benchmark ecram --out a --json" + kToy +
                                             " --set 'compare.grid.train.learning_rate=[1e300]' --set train.steps=3");
  CHECK(done.exit_code == 3);
  const auto json = nlohmann::json::parse(done.output);
  CHECK((json["score"].is_null() && json["interval"].is_null() && json["rank"].is_null()));
  CHECK_THAT(json["reason"].get<std::string>(), Contains("hopfield: "));
}

TEST_CASE("benchmark names what is wrong before it runs anything", "[apps]") {
  const Folder folder;
  const auto refused = [&](const std::string& arguments) {
    const Outcome done = run_nudge(folder, "benchmark " + arguments + " --out none");
    CHECK(done.exit_code == 2);
    CHECK(!std::filesystem::exists(folder.file("none/ecram.hopfield.h5")));
    return done.errors;
  };
  CHECK_THAT(refused("ecrm"), Contains("did you mean ecram?"));
  CHECK_THAT(refused("none.toml"), Contains("none.toml: no such file"));
  CHECK_THAT(refused("ecram --network hopfeld"), Contains("did you mean hopfield?"));
  CHECK_THAT(refused("ecram --rule pulse"), Contains("did you mean pulses?"));
  CHECK_THAT(refused("ecram --zoo nowhere --short --set data.file="), Contains("nowhere: no such folder"));
  folder.write("broken.toml", "[device]\nmodel = \n");
  CHECK_THAT(refused("broken.toml"), Contains("broken.toml:2"));
  folder.write("wider.toml", "[device]\npreset = 'ecram'\n[train]\nsteps = 3\n");
  CHECK_THAT(refused("wider.toml"), Contains("wider.toml:4") && Contains("train.steps"));
  folder.write("empty.toml", "");
  CHECK_THAT(refused("empty.toml"), Contains("no key of [device]"));
  folder.write("digital.toml", "[device]\nmodel = 'digital'\n");
  CHECK_THAT(refused("digital.toml"), Contains("there are no devices to try rules on"));
  CHECK_THAT(refused("ecram --rule coincidence --network hopfield"),
             Contains("no update rule can be tried") && Contains("coincidence: "));
  CHECK_THAT(refused("ecram --short --set data.folder=nowhere"), Contains("nowhere"));
  CHECK_THAT(refused("ecram --set device.preset=pcm"), Contains("Set it in the file of a device"));
  CHECK_THAT(refused("ecram --set crossbar.update=none"), Contains("Name them with --rule"));
  folder.write("ecram.toml", "[device]\npreset = 'ecram'\n");
  CHECK_THAT(refused("ecram ecram.toml"), Contains("two devices are called ecram"));
  CHECK_THAT(refused("ecram --resume nowhere"), Contains("--resume continues its own folder"));
}
