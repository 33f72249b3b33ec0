// SPDX-License-Identifier: Apache-2.0
// What a session allows of memory, and files that have no end: a sentence and exit code 2, never a signal.
#include <fmt/format.h>

#include <filesystem>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

const std::string kTiny =
    "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n[train]\nsteps = 2\nbatch = 3\nwarmup = 1\n"
    "evaluation_batches = 1\ntest_batches = 1\n[relaxation]\nfree_steps = 8\nnudged_steps = 8\n";

/// The program under `ulimit WHAT`: its exit code, 128 and more for a signal.
Outcome limited(const Folder& folder, const std::string& what, const std::string& arguments) {
  const std::string line =
      fmt::format("cd '{}' && N='" NUDGE_PROGRAM
                  "' bash -c 'export N; ulimit {}; $N {} >out.txt 2>errors.txt' </dev/null 2>/dev/null",
                  folder.file(""), what, arguments);
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(folder.file("out.txt")),
          read_file(folder.file("errors.txt"))};
}

/// Below this the loader of shared libraries ends a program before any of it runs, with 127 and a sentence of its own. In the next 200 kB it is
/// the start of oneDNN that has no memory for an exception, before main() begins, or those of GnuTLS and of OpenMP; from there on the program
/// speaks (end_without_memory).
bool was_loaded(const Outcome& run) {
  if (run.errors.find("Error in GnuTLS initialization") == 0) return false;
  if (run.errors.find("terminate called without an active exception") == 0) return false;
  return run.exit_code != 127 || run.errors.find("error while loading shared libraries") == std::string::npos;
}

}  // namespace

TEST_CASE("memory: at every limit of the address space a command ends well or says that there is too little",
          "[apps]") {
  if (NUDGE_SANITIZED) return;  // whose shadow takes more address space than there is memory
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  folder.write("d.cir", "divider\nV1 in 0 10\nR1 in out 3k\nR2 out 0 2k\nC1 out 0 1n\n");
  int loaded = 0, ended = 0;
  for (const char* arguments : {"netlist d.cir --op", "netlist d.cir --tran 10us", "config check tiny.toml",
                                "train tiny.toml --set threads=2 --out run.h5"}) {
    // The narrowest window of a crash that was seen is 4 MB wide: oneDNN without room for its code.
    for (int kB = 76000; kB < 800000; kB += kB < 136000 ? 3000 : kB) {
      CAPTURE(arguments, kB);
      std::filesystem::remove(folder.file("run.h5"));
      const Outcome run = limited(folder, fmt::format("-v {}", kB), arguments);
      if (!was_loaded(run)) continue;
      ++loaded;
      ended += run.exit_code == 0 ? 1 : 0;
      CAPTURE(run.errors);
      CHECK((run.exit_code == 0 || run.exit_code == 2));
      if (run.exit_code != 0) CHECK_THAT(run.errors, Contains("nudge: ") || Contains("free"));
    }
  }
  CHECK(ended > 0);
  CHECK(loaded > ended);
}

TEST_CASE("memory: a stack that is too small is told, and one that may grow is made to", "[apps]") {
  if (NUDGE_SANITIZED) return;
  const Folder folder;
  folder.write("tiny.toml", kTiny);
  for (const int kB : {32, 64, 256}) {
    CAPTURE(kB);
    const Outcome hard = limited(folder, fmt::format("-s {}", kB), "train tiny.toml --set threads=2 --out run.h5");
    CHECK(hard.exit_code == 2);
    CHECK_THAT(hard.errors, Contains("the stack limit is below the 512 kB that nudge needs"));
    CHECK_FALSE(std::filesystem::exists(folder.file("run.h5")));
    CHECK(limited(folder, fmt::format("-Ss {}", kB), "config check tiny.toml").exit_code == 0);
  }
  const Outcome least = limited(folder, "-s 512", "train tiny.toml --set threads=2 --out run.h5");
  CAPTURE(least.errors);
  CHECK(least.exit_code == 0);
}

TEST_CASE("memory: a file without end is refused at the bound", "[apps]") {
  if (NUDGE_SANITIZED) return;
  const Folder folder;
  // 900 MB of address space leave less than 300 MB for a file, which is read in less than a second.
  for (const char* arguments :
       {"devices fit /dev/zero", "devices fit --relaxation /dev/zero", "config check /dev/zero"}) {
    CAPTURE(arguments);
    const Outcome run = limited(folder, "-v 900000", arguments);
    CAPTURE(run.errors);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.errors, Contains("/dev/zero: has more than ") && Contains(" bytes, a third of ") &&
                               Contains("which ulimit -v leaves. Use a part of it"));
  }
}

TEST_CASE("memory: a network that no machine holds is refused by check and run in the same words", "[apps]") {
  const Folder folder;
  folder.write("wide.toml",
               "estimator = 'ep'\n[network]\nkind = 'oscillator'\n[task]\nkind = 'classification'\n[oscillator]\n"
               "hidden = [10000000000]\n[relaxation]\nstep_fraction = 0.3\n");
  const Outcome check = run_nudge(folder, "config check wide.toml");
  const Outcome run = run_nudge(folder, "train wide.toml --out run.h5");
  CHECK(check.exit_code == 2);
  CHECK(run.exit_code == 2);
  const auto sentence = [](const std::string& text) { return text.substr(0, text.find(", more than ")); };
  CHECK(sentence(check.errors) == sentence(run.errors));  // what is free changes from one moment to the next
  CHECK_THAT(check.errors, Contains("wide.toml:7:1: oscillator.hidden = [10000000000]: needs at least ") &&
                               Contains("Make oscillator.hidden smaller"));
}
