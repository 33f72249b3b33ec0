// SPDX-License-Identifier: Apache-2.0
// Signals to mpirun and to one of its ranks: all stop, the file is whole, and the rest of the run has the bits of an unbroken
// one. Skipped where the build has no MPI.

#include "tests/apps/running_ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kSmall =
    "estimator = 'aep_transposed'\nbeta = 0.01\nthreads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nbatch = 5\nwarmup = 2\nlearning_rate = 1e-5\nevaluate_every = 0\nevaluation_batches = 1\ntest_batches = "
    "1\n";

/// To whom a signal goes.
struct Sent {
  int signal;
  int rank;  ///< -1: mpirun
  /// Open MPI ends with its own 1 when it was asked to end itself, else with the code of the ranks; SIGUSR1 it only hands on.
  int code() const { return rank < 0 && signal != SIGUSR1 ? 1 : 0; }
  std::string text() const { return "signal " + std::to_string(signal) + " to " + std::to_string(rank); }
  std::string file() const { return std::to_string(signal) + "_" + std::to_string(rank + 1) + ".h5"; }
};

[[maybe_unused]] std::vector<std::string> differences(const Folder& folder, const std::string& a,
                                                      const std::string& b) {
  return differing_objects(folder.file(a), folder.file(b), {"started", "wall_time_s", "threads"});
}

#ifdef NUDGE_MPIRUN
std::string step_line(std::int64_t step) {
  const std::string number = std::to_string(step);
  return "step " + std::string(6 - number.size(), ' ') + number + "/";
}

/// The steps are so many that mpirun's 3 s before SIGTERM do not suffice for them: 1 ms each in one process, more in three. mpirun reads no
/// messages in that time: those of all steps fit into its pipe of 64 KiB (500 lines of 59 characters), or the run would wait for it.
void stop_and_resume_training(const std::vector<Sent>& all) {
  const Folder folder;
  folder.write("t.toml", kSmall);
  const std::int64_t steps = 4000, every = 8;
  const std::string train = "train t.toml --set train.steps=4000 --set output.print_every=8 --out ";
  REQUIRE(run_nudge(folder, train + "whole.h5").exit_code == 0);
  for (const Sent& sent : all) {
    RunningRanks ranks(folder, 3, train + sent.file());
    REQUIRE(ranks.wait_for(step_line(every)));
    ranks.send(sent.signal, sent.rank);
    const int code = ranks.end();
    const std::string log = ranks.log();
    const std::size_t tail = log.size() - std::min<std::size_t>(log.size(), 500);
    INFO(sent.text() << ": " << log.substr(tail));
    CHECK(code == sent.code());
    CHECK_THAT(log, Contains("interrupted; continue with: nudge train --resume " + sent.file()));
    const auto done = nudge::H5Reader(folder.file(sent.file())).integer_attribute("checkpoint_done");
    CHECK(done >= every);
    CHECK(done < steps);
    const std::int64_t said = done - done % every;
    CHECK(log.find(step_line(said)) != std::string::npos);
    CHECK(log.find(step_line(said + every)) == std::string::npos);  // nor a step that is not saved
    CHECK(run_nudge(folder, "train --resume " + sent.file()).exit_code == 0);
    CHECK(differences(folder, "whole.h5", sent.file()) == std::vector<std::string>{});
  }
}

/// Two quick points and two long ones. Three ranks: two are at the long points when the quick ones have ended, and one has
/// nothing to do.
void stop_and_resume_sweep(const std::vector<Sent>& all) {
  const Folder folder;
  const auto config = [](const std::string& steps) {
    return kSmall + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\n'train.steps' = [2, " + steps + "]\n";
  };
  folder.write("s.toml", config("300"));
  folder.write("long.toml", config("100000000"));  // would not end in the time of this test
  REQUIRE(run_nudge(folder, "sweep s.toml --out whole.h5").exit_code == 0);
  for (const Sent& sent : all) {
    RunningRanks ranks(folder, 3, "sweep long.toml --out " + sent.file());
    REQUIRE(ranks.wait_for("2/4 "));
    ranks.send(sent.signal, sent.rank);
    const int code = ranks.end();
    INFO(sent.text() << ": " << ranks.log());
    CHECK(code == sent.code());
    CHECK_THAT(ranks.log(), Contains("interrupted; continue with: nudge sweep long.toml --resume " + sent.file()));
    CHECK(nudge::H5Reader(folder.file(sent.file())).integers("points/seed") == std::vector<std::int64_t>{1, 2});
    CHECK(run_nudge(folder, "sweep s.toml --resume " + sent.file()).exit_code == 0);  // another value of the axis
    CHECK(differences(folder, "whole.h5", sent.file()) == std::vector<std::string>{});
  }
}
#endif

}  // namespace

TEST_CASE("a training on 3 ranks stops at its next step when one of them gets a signal, and resumes to the same bits") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  stop_and_resume_training({{SIGTERM, 1}, {SIGUSR1, -1}});
#endif
}

TEST_CASE(
    "a sweep on 3 ranks stops when any of them gets a signal, also one without work, and resumes to the same content") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  stop_and_resume_sweep({{SIGINT, 1}, {SIGTERM, 2}, {SIGUSR1, -1}});
#endif
}

TEST_CASE("trainings and sweeps on 3 ranks stop in time when mpirun is asked to end", "[slow]") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  stop_and_resume_training({{SIGINT, -1}, {SIGTERM, -1}, {SIGHUP, 0}, {SIGINT, 2}});
  stop_and_resume_sweep({{SIGINT, -1}, {SIGTERM, -1}, {SIGHUP, 0}});
#endif
}
