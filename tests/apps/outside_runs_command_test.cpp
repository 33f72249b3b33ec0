// SPDX-License-Identifier: Apache-2.0
// Runs that a resumed study keeps outside its grid, and runs that are listed twice, from the command line.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string kSmall =
    "threads = 1\nestimator = 'aep_transposed'\nbeta = 0.01\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n[train]\nbatch = 2\nsteps = 3\nwarmup = 2\nevaluate_every = 0\n"
    "evaluation_batches = 1\ntest_batches = 2\n";
const std::string kSweep =
    kSmall + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\nbeta = [0.1, 0.2]\n'train.optimizer' = ['adam', 'sgd']\n";

}  // namespace

TEST_CASE("what a smaller grid leaves outside is said everywhere, counted nowhere, and removed by --drop alone") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  REQUIRE(run_nudge(folder, "sweep s.toml --out s.h5").exit_code == 0);
  const std::string less = " --set 'sweep.grid.beta=[0.1]'";
  const Outcome table = run_nudge(folder, "sweep s.toml --resume s.h5" + less);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output,
             Contains("4 finished runs outside the present grid: kept in the file") && Contains("--drop"));
  CHECK_THAT(run_nudge(folder, "info s.h5").output, Contains("outside_runs         4") && Contains("points: 4"));
  CHECK_THAT(run_nudge(folder, "watch s.h5 --once").output, Contains("4/4 points"));
  REQUIRE(run_nudge(folder, "report s.h5 -o s.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("s.html")), Contains("4 finished runs of an earlier grid are kept in the file"));
  REQUIRE(run_nudge(folder, "export s.h5 --csv csv").exit_code == 0);
  const std::string points = read_file(folder.file("csv/points.csv")),
                    outside = read_file(folder.file("csv/outside.csv"));
  CHECK(std::count(points.begin(), points.end(), '\n') == 1 + 4);
  CHECK(std::count(outside.begin(), outside.end(), '\n') == 1 + 4);
  const json told = json::parse(run_nudge(folder, "sweep s.toml --resume s.h5 --drop --dry-run --json" + less).output);
  CHECK(told["removed"] == false);
  REQUIRE(told["runs"].size() == 4);
  CHECK(told["runs"][0]["beta"] == 0.2);
  CHECK(json::parse(run_nudge(folder, "sweep s.toml --resume s.h5 --json").output)["outside"] == 0);  // all are back
  CHECK_THAT(run_nudge(folder, "sweep s.toml --resume s.h5 --drop" + less).output,
             Contains("4 finished runs outside the present grid removed") &&
                 Contains("points  beta = 0.2  train.optimizer = sgd  seed 2  ok"));
  CHECK_THAT(run_nudge(folder, "sweep s.toml --resume s.h5 --drop" + less).output, Contains("nothing to remove"));
  const Outcome alone = run_nudge(folder, "sweep s.toml --drop");
  CHECK(alone.exit_code == 2);
  CHECK_THAT(alone.errors, Contains("--resume FILE"));
}

TEST_CASE("compare keeps and drops runs as sweep does") {
  const Folder folder;
  folder.write("c.toml", kSmall +
                             "[compare]\nentrants = ['bptt', 'ep']\ntuning_seeds = [1]\ntest_seeds = [3, "
                             "4]\n[compare.grid]\n'train.learning_rate' = [1e-2]\n");
  REQUIRE(run_nudge(folder, "compare c.toml --out c.h5").exit_code == 0);
  const std::string one = " --set 'compare.test_seeds=[4]'";
  CHECK_THAT(run_nudge(folder, "compare c.toml --resume c.h5" + one).output, Contains("2 finished runs outside"));
  CHECK_THAT(run_nudge(folder, "compare c.toml --resume c.h5 --drop" + one).output,
             Contains("test  ep  train.learning_rate = 0.01  seed 3  ok"));
}

TEST_CASE("a part without points says so and exits 0") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  const Outcome part = run_nudge(folder, "sweep s.toml --set sweep.seeds=1 --shard 5/8 --out p5.h5");
  CHECK(part.exit_code == 0);
  CHECK_THAT(part.errors, Contains("part 5/8 is empty, because there are only 4 points"));
  CHECK_THAT(run_nudge(folder, "watch p5.h5 --once").output, Contains("0/0 points"));
  CHECK(run_nudge(folder, "info p5.h5").exit_code == 0);
  CHECK(run_nudge(folder, "report p5.h5 -o p5.html").exit_code == 0);
}

TEST_CASE("what is listed twice exits 2 with its place, in config check as in the run") {
  const Folder folder;
  folder.write("s.toml", kSweep);
  folder.write("c.toml",
               kSmall + "[compare.grid]\n'train.learning_rate' = [1e-2]\n[compare]\ntest_seeds = [11, 11, 12]\n");
  folder.write("twice.toml", kSmall + "[sweep.grid]\nbeta = [0.1, 1e-1]\n");
  for (const char* command :
       {"config check s.toml --set 'sweep.seeds=[1, 1]'", "sweep s.toml --out n.h5 --set 'sweep.seeds=[1, 1]'",
        "config check c.toml", "compare c.toml --out n.h5", "config check twice.toml", "sweep twice.toml --out n.h5",
        "gradcheck s.toml --set 'gradcheck.estimators=[\"ep\", \"ep\"]'"}) {
    CAPTURE(command);
    const Outcome outcome = run_nudge(folder, command);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.errors, Contains("is [0] again"));
  }
  CHECK_THAT(run_nudge(folder, "config check twice.toml").errors,
             Contains("twice.toml:20:1: sweep.grid.beta = [0.1, 0.1]"));
}

TEST_CASE("a run of two files is one run in a report that pools them") {
  const Folder folder;
  folder.write("s.toml", kSmall + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\nbeta = [0.1, 0.2]\n");
  REQUIRE(run_nudge(folder, "sweep s.toml --out a.h5").exit_code == 0);
  REQUIRE(run_nudge(folder, "sweep s.toml --set 'sweep.seeds=[2, 3]' --out b.h5").exit_code == 0);
  REQUIRE(run_nudge(folder, "report a.h5 b.h5 -o ab.html").exit_code == 0);
  CHECK_THAT(read_file(folder.file("ab.html")), Contains("All 6 runs ended well"));  // not 8: seed 2 is in both
}
