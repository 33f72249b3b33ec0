// SPDX-License-Identifier: Apache-2.0
// Sweeps in parts, before and while they run: shard and merge, --dry-run, progress as JSON, watch.

#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/work_rate.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"

using namespace nudge::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string kSmall =
    "threads = 1\nestimator = 'aep_transposed'\nbeta = 0.01\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n[train]\nbatch = 2\nsteps = 6\nwarmup = 2\nevaluate_every = 0\n"
    "evaluation_batches = 1\ntest_batches = 2\n";
const std::string kSweep = kSmall +
                           "[sweep]\nseeds = [1, 2]\ninvalid = 'skip'\n[sweep.grid]\n'model.heads' = [1, 2, 3]\n"
                           "'train.learning_rate' = [1e-3, 1e-2]\n";

/// The lines of a log, each a JSON object.
std::vector<json> objects(const std::string& lines) {
  std::vector<json> all;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line));
  return all;
}

}  // namespace

TEST_CASE("shards are run, merged, refused and continued from the command line") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  REQUIRE(run_nudge(folder, "sweep s.toml --out whole.h5").exit_code == 0);
  for (const char* part : {"1", "2"}) {
    const std::string n = part;
    CHECK(run_nudge(folder, "sweep s.toml --shard " + n + "/3 --out p" + n + ".h5").exit_code == 0);
  }
  const Outcome missing = run_nudge(folder, "merge p1.h5 p2.h5 --out m.h5");
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.errors, Contains("4 of 12 points are in none of the files") || Contains("of 12 points"));
  CHECK(run_nudge(folder, "merge p1.h5 p2.h5 --partial --out m.h5").exit_code == 0);
  CHECK(run_nudge(folder, "sweep s.toml --resume m.h5").exit_code == 0);
  CHECK(differing_objects(folder.file("whole.h5"), folder.file("m.h5")) == std::vector<std::string>{});
  CHECK(run_nudge(folder, "merge p1.h5 p2.h5 --partial --out m.h5").exit_code == 2);  // exists
  CHECK(run_nudge(folder, "sweep s.toml --shard 4/3 --out p4.h5").exit_code == 2);
  const Outcome help = run_nudge(folder, "sweep --help");
  CHECK_THAT(help.output,
             Contains("axes may change") && Contains("--drop") && Contains("--shard") && Contains("--dry-run"));
}

TEST_CASE("points that break a rule stand in table and JSON with the rule") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  const Outcome table = run_nudge(folder, "sweep s.toml --out s.h5");
  CHECK_THAT(table.output, Contains("invalid") && Contains("must divide model.channels = 8"));
  const json out = json::parse(run_nudge(folder, "sweep s.toml --resume s.h5 --json").output);
  CHECK(out["points"].size() == 12);
  int invalid = 0;
  for (const json& cell : out["summary"]) invalid += cell.contains("invalid") ? 1 : 0;
  CHECK(invalid == 2);
  CHECK(run_nudge(folder, "report s.h5 -o s.html").exit_code == 0);
}

TEST_CASE("sampled sweeps are drawn point by point over each key") {
  const Folder folder;
  folder.write("s.toml",
               kSmall +
                   "[sweep]\nmode = 'sobol'\nsamples = 6\nlogarithmic = ['train.learning_rate']\n[sweep.grid]\n"
                   "'train.learning_rate' = [1e-3, 1e-2]\n'train.batch' = [1, 3]\n");
  REQUIRE(run_nudge(folder, "sweep s.toml --out s.h5").exit_code == 0);
  REQUIRE(run_nudge(folder, "report s.h5 -o s.html").exit_code == 0);
  const std::string page = read_file(folder.file("s.html"));
  CHECK_THAT(page, Contains("every figure shows every point") && Contains("<h3>train.batch</h3>"));
  CHECK(page.find("train.batch = ") == std::string::npos);  // no legend of points
}

TEST_CASE("a dry run counts and measures, and writes nothing") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  const Outcome dry = run_nudge(folder, "sweep s.toml --dry-run --json");
  REQUIRE(dry.exit_code == 0);
  const json e = json::parse(dry.output);
  CHECK(e["points"] == 12);
  CHECK(e["left"] == 8);
  CHECK(e["invalid"] == 4);
  CHECK(e["kinds"].size() == 2);  // one head and two; learning rates take the same time
  CHECK(e["seconds"] > 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("s.h5")));
  REQUIRE(run_nudge(folder, "sweep s.toml --out s.h5").exit_code == 0);
  // The file is what was estimated, but for the digits of times and the like.
  const auto size = static_cast<double>(std::filesystem::file_size(folder.file("s.h5")));
  CHECK(e["file_bytes"].get<double>() == Approx(size).epsilon(0.02));
  CHECK(json::parse(run_nudge(folder, "sweep s.toml --resume s.h5 --dry-run --json").output)["left"] == 0);
  CHECK_THAT(run_nudge(folder, "sweep s.toml --dry-run --shard 1/4").output, Contains("3 points"));
  const std::string alone = run_nudge(folder, "sweep s.toml --dry-run --set sweep.mode=one_at_a_time").output;
  CHECK_THAT(alone, Contains("baseline") && Contains("\nmodel.heads = ") && !Contains(", model.heads"));
  folder.write("c.toml",
               kSmall +
                   "[compare]\nentrants = ['bptt', 'aep_transposed']\ntuning_seeds = [1]\ntest_seeds = [3, 4]\n"
                   "[compare.grid]\n'train.learning_rate' = [1e-6, 1e-2]\n");
  const Outcome compare = run_nudge(folder, "compare c.toml --dry-run");
  CHECK(compare.exit_code == 0);
  CHECK_THAT(compare.output, Contains("8 points, 8 to run") && Contains("bptt, train.learning_rate not 0"));
}

TEST_CASE("progress lines are JSON when asked for") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  const auto points = objects(run_nudge(folder, "sweep s.toml --log-format json --out s.h5").errors);
  REQUIRE(points.size() == 8);
  CHECK(points.back()["done"] == 12);
  CHECK(points.back()["total"] == 12);
  CHECK(points.back()["status"] == "ok");
  CHECK(points.back()["results"]["final_loss"].is_number());
  folder.write("t.toml", kSmall);
  const auto steps =
      objects(run_nudge(folder, "train t.toml --log-format json --set output.print_every=2 --out t.h5").errors);
  REQUIRE(steps.size() == 3);
  CHECK(steps[0]["event"] == "step");
  CHECK(steps[2]["done"] == 6);
  CHECK(run_nudge(folder, "train t.toml --log-format xml --out u.h5").exit_code == 2);
}

TEST_CASE("watch tells how far a file is, and ends with the run") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  REQUIRE(run_nudge(folder, "sweep s.toml --shard 1/2 --out s.h5").exit_code == 0);
  const Outcome part = run_nudge(folder, "watch s.h5 --once --json");
  CHECK(part.exit_code == 0);
  const json state = json::parse(part.output);
  CHECK(state["done"] == 6);
  CHECK(state["total"] == 6);
  CHECK(state["complete"] == true);
  CHECK(state["writer"].is_null());
  REQUIRE(run_nudge(folder, "merge s.h5 --partial --out half.h5").exit_code == 0);
  const Outcome left = run_nudge(folder, "watch half.h5");  // nobody writes it: ends
  CHECK(left.exit_code == 0);
  CHECK_THAT(left.output, Contains("/12 points"));
  CHECK_THAT(left.errors, Contains("no process of this machine writes"));
  folder.write("t.toml", kSmall);
  // A run in the background: watch waits for its first checkpoint and ends when it has ended.
  const std::string run =
      "(\"" NUDGE_PROGRAM
      "\" train t.toml --set train.steps=400 --set train.checkpoint_every=20 --out t.h5 >/dev/null 2>&1 &) ; "
      "for i in $(seq 100); do [ -e t.h5 ] && break; sleep 0.1; done";
  REQUIRE(std::system(("cd '" + folder.file("") + "' && " + run).c_str()) == 0);
  const Outcome watched = run_nudge(folder, "watch t.h5 --every 0.1");
  CHECK(watched.exit_code == 0);
  CHECK_THAT(watched.output, Contains("400/400 steps") && Contains("complete"));
  folder.write("no.h5", "x");
  CHECK(run_nudge(folder, "watch no.h5 --once").exit_code == 2);
  CHECK(run_nudge(folder, "watch absent.h5 --once").exit_code == 2);
}

TEST_CASE("messages leave out the middle of values that nobody can read") {
  const Folder folder;
  folder.write("t.toml", kSmall + "[optimizer_]\nx = '" + std::string(1'000'000, 'y') + "'\n");
  folder.write("u.toml", "estimator = '" + std::string(1'000'000, 'y') + "'\n");
  for (const char* name : {"t.toml", "u.toml"}) {
    const Outcome outcome = run_nudge(folder, std::string("config check ") + name);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.errors.size() < 5000);
    CHECK_THAT(outcome.errors, Contains(std::string(name) + ":"));
  }
  folder.write("d.toml", "\"beta\" = 1\n\"beta\" = 2\n[sweep.grid]\n");
  CHECK_THAT(run_nudge(folder, "config check d.toml").errors,
             Contains("d.toml:2:") && Contains("\"beta\" is set twice"));
}

TEST_CASE("times are told in the unit that fits") {
  CHECK(nudge::duration_text(0.047) == "0.047 s");
  CHECK(nudge::duration_text(45) == "45 s");
  CHECK(nudge::duration_text(12 * 60 + 20) == "12 min");
  CHECK(nudge::duration_text(3 * 3600 + 20 * 60) == "3 h 20 min");
  CHECK(nudge::duration_text(52 * 3600.0) == "2 d 4 h");
  CHECK(nudge::rate_text(2.5) == "2.5/s");
  CHECK(nudge::rate_text(0.05) == "3.0/min");
  CHECK(nudge::rate_text(0.01) == "36.0/h");
}
