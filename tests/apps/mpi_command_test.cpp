// SPDX-License-Identifier: Apache-2.0
// The program under mpirun. Skipped where the build has no MPI.

#include "tests/apps/run_ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kSmall =
    "estimator = 'aep_transposed'\nbeta = 0.01\nthreads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nsteps = 6\nbatch = 2\nwarmup = 2\nevaluate_every = 0\nevaluation_batches = 1\ntest_batches = 2\n";
const std::string kSweep =
    kSmall +
    "[sweep]\nseeds = [1, 2, 3]\ninvalid = 'skip'\n[sweep.grid]\n'train.optimizer' = ['adam', 'sgd']\n"
    "'model.heads' = [1, 2, 3]\n";
const std::string kCompare =
    kSmall +
    "[compare]\nentrants = ['bptt', 'aep_transposed']\ntuning_seeds = [1]\ntest_seeds = [3, 4]\n"
    "[compare.grid]\n'train.learning_rate' = [1e-6, 1e-2]\n";

const std::vector<std::string> kTimes = {"started", "wall_time_s", "threads"};

[[maybe_unused]] std::vector<std::string> differences(const std::string& a, const std::string& b) {
  return differing_objects(a, b, kTimes);
}

}  // namespace

TEST_CASE("a sweep and a comparison on 1, 2, 3 and 4 ranks write the file of one process") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  const Folder folder;
  folder.write("s.toml", kSweep);
  folder.write("c.toml", kCompare);
  REQUIRE(run_nudge(folder, "sweep s.toml --out s.h5").exit_code == 0);
  REQUIRE(run_nudge(folder, "compare c.toml --out c.h5").exit_code == 0);
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const std::string n = std::to_string(ranks);
    const Outcome sweep = run_ranks(folder, ranks, "sweep s.toml --out s" + n + ".h5");
    CHECK(sweep.exit_code == 0);
    CHECK_THAT(sweep.output, Contains("s" + n + ".h5"));
    CHECK(sweep.output.find("s" + n + ".h5") == sweep.output.rfind("s" + n + ".h5"));  // one rank prints
    CHECK(differences(folder.file("s.h5"), folder.file("s" + n + ".h5")) == std::vector<std::string>{});
    CHECK(run_ranks(folder, ranks, "compare c.toml --out c" + n + ".h5").exit_code == 0);
    CHECK(differences(folder.file("c.h5"), folder.file("c" + n + ".h5")) == std::vector<std::string>{});
  }
  // Two threads on each of two ranks; and a part of the points resumed.
  CHECK(run_ranks(folder, 2, "sweep s.toml --set sweep.parallel=2 --out t.h5").exit_code == 0);
  auto threads = differences(folder.file("s.h5"), folder.file("t.h5"));
  std::erase(threads, "attribute config");
  CHECK(threads == std::vector<std::string>{});
  REQUIRE(run_nudge(folder, "sweep s.toml --shard 2/3 --out part.h5").exit_code == 0);
  CHECK(run_ranks(folder, 3, "sweep s.toml --resume part.h5").exit_code == 0);
  CHECK(differences(folder.file("s.h5"), folder.file("part.h5")) == std::vector<std::string>{});
#endif
}

TEST_CASE("under mpirun wrong input is said once, and commands of one process say so") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  const Folder folder;
  folder.write("s.toml", kSweep);
  const Outcome refused = run_ranks(folder, 3, "sweep s.toml --set train.optimizr=sgd --out s.h5");
  CHECK(refused.exit_code == 2);
  const std::size_t first = refused.errors.find("did you mean");
  CHECK(first != std::string::npos);
  CHECK(refused.errors.find("did you mean", first + 1) == std::string::npos);
  folder.write("there.h5", "x");
  CHECK(run_ranks(folder, 2, "sweep s.toml --out there.h5").exit_code == 2);  // rank 0 alone knows
  const Outcome info = run_ranks(folder, 2, "config check s.toml");
  CHECK(info.exit_code == 2);
  CHECK_THAT(info.errors, Contains("runs in one process"));
  CHECK(run_ranks(folder, 2, "sweep s.toml --shard 1/2 --out s.h5").exit_code == 2);
#endif
}
