// SPDX-License-Identifier: Apache-2.0
// What a session really does to a program: streams that cannot be written, limits of the machine, runs that fail.

#include <filesystem>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kTiny =
    "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[train]\nsteps = 12\nbatch = 3\nwarmup = 5\nevaluate_every = 4\nevaluation_batches = 2\ntest_batches = 1\n"
    "[relaxation]\nfree_steps = 8\nnudged_steps = 8\n[output]\nprint_every = 1\n";

/// Runs a line of the shell in the folder, $N being the program; returns its exit code.
int shell(const Folder& folder, const std::string& line) {
  const int status =
      std::system(("cd '" + folder.file("") + "' && N='" NUDGE_PROGRAM "' bash -c '" + line + "' </dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a standard error that cannot be written ends nothing") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  CHECK(shell(folder, "export N; $N train tiny.toml --out full.h5 >out.txt 2>/dev/full") == 0);
  CHECK(shell(folder, "export N; $N train tiny.toml --out closed.h5 >out.txt 2>&-") == 0);
  for (const char* file : {"full.h5", "closed.h5"}) CHECK(std::filesystem::exists(folder.file(file)));
  CHECK(shell(folder, "export N; $N train tiny.toml --set beta=-1 --out none.h5 2>/dev/full") == 2);
}

TEST_CASE("results that cannot be written have an exit code of their own, and the file is kept") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  CHECK(shell(folder, "export N; $N config keys >/dev/full 2>errors.txt") == 4);
  CHECK_THAT(read_file(folder.file("errors.txt")), Contains("standard output") && Contains("No space left"));
  CHECK(shell(folder, "export N; $N train tiny.toml --json --out a.h5 >/dev/full 2>errors.txt") == 4);
  CHECK(shell(folder, "export N; $N info a.h5 >&- 2>errors.txt") == 4);
  CHECK(std::filesystem::exists(folder.file("a.h5")));
  // A reader that has gone is not worth a message.
  CHECK(shell(folder, "export N; $N config keys 2>errors.txt | true; exit ${PIPESTATUS[0]}") != 1);
  CHECK(read_file(folder.file("errors.txt")).empty());
}

TEST_CASE("limits and faults of the machine are the user's to know, not bugs of ours") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
#ifndef __clang__  // whose OpenMP runtime has a file of its own in shared memory, beyond this limit, and ends the program
  CHECK(shell(folder, "export N; ulimit -f 2; $N train tiny.toml --out a.h5 >/dev/null 2>errors.txt") == 2);
  CHECK_THAT(read_file(folder.file("errors.txt")), Contains("a.h5: cannot be written"));
  CHECK_FALSE(std::filesystem::exists(folder.file("a.h5")));
#endif
  const Outcome unreadable = run_nudge(folder, "train tiny.toml --out b.h5 --set data.text=/proc/self/mem");
  CHECK(unreadable.exit_code == 2);
  CHECK_THAT(unreadable.errors, !Contains("bug"));
}

TEST_CASE("an output that is a link to nothing is written where it points") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  std::filesystem::create_symlink("there.h5", folder.file("link.h5"));
  CHECK(run_nudge(folder, "train tiny.toml --out link.h5").exit_code == 0);
  CHECK(std::filesystem::is_symlink(folder.file("link.h5")));
  CHECK(std::filesystem::is_regular_file(folder.file("there.h5")));
  std::filesystem::create_symlink("round.h5", folder.file("round.h5"));
  const Outcome round = run_nudge(folder, "train tiny.toml --out round.h5");
  CHECK(round.exit_code == 2);
  CHECK_THAT(round.errors, Contains("round.h5"));
}

TEST_CASE("a run without one accepted step, or that does not settle, has failed") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  const Outcome broken = run_nudge(folder, "train tiny.toml --out a.h5 --set beta=1e30 --set estimator=aep --json");
  CHECK(broken.exit_code == 3);
  CHECK_THAT(broken.errors, Contains("the run failed: no step was accepted"));
  CHECK_THAT(broken.output, Contains("\"status\": \"no step was accepted\""));
  const Outcome noisy =
      run_nudge(folder,
                "train tiny.toml --out b.h5 --set device.model=soft_bounds --set device.read_noise=1e30 "
                "--set nudge.below_noise=true");
  CHECK(noisy.exit_code == 3);
  // Memories so large that their energy is unbounded below: the state runs away.
  const Outcome unsettled = run_nudge(
      folder,
      "train tiny.toml --out c.h5 --set estimator=bptt --set damping.control=false --set model.memory_scale=30 "
      "--set memory_bound.fraction=0 --set train.learning_rate=1e-9");
  INFO(unsettled.errors);
  CHECK(unsettled.exit_code == 3);
  CHECK_THAT(unsettled.errors, Contains("the run failed: stopped: no equilibrium"));
  folder.write("sweep.toml", kTiny + "[sweep.grid]\n\"beta\" = [1e-3, 1e30]\n");
  const Outcome sweep = run_nudge(folder, "sweep sweep.toml --out s.h5 --set estimator=aep --json");
  CHECK(sweep.exit_code == 0);
  CHECK_THAT(sweep.output, Contains("\"failed\": 1"));
}

TEST_CASE("rules that only a run would find out are rules of the config") {
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  struct Case {
    const char* setting;
    const char* rule;
  };
  const Case wrong = GENERATE(Case{"correction.delay=1e12", "within the nudged phase"},
                              Case{"damping.patience=4294967297", "damping.patience = 4294967297"},
                              Case{"crossbar.transfer_every=4294967296", "crossbar.transfer_every = 4294967296"},
                              Case{"crossbar.transfer_columns=4294967297", "crossbar.transfer_columns = 4294967297"},
                              Case{"memory_bound.fraction=1", "memory_bound.fraction = 1"},
                              Case{"gradcheck.estimators=[]", "must name one"});
  const Outcome outcome = run_nudge(folder, std::string("config check tiny.toml --set ") + wrong.setting);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.errors, Contains(wrong.rule));
}
