// SPDX-License-Identifier: Apache-2.0
// What --dry-run says of time, memory and disk beside what the sweep then takes.
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitizers.hpp"

using namespace nudge::test;

namespace {

struct Taken {
  int exit_code = -1;
  double wall_s = 0, cpu_s = 0, bytes = 0;  ///< bytes: largest resident set
};

/// The program as a child of its own, so that its resources are not those of other children.
Taken take(const Folder& folder, const std::string& arguments, const std::string& output) {
  const std::string command = "cd '" + folder.file("") + "' && exec '" NUDGE_PROGRAM "' " + arguments + " >'" +
                              folder.file(output) + "' 2>errors.txt </dev/null";
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  Taken taken;
  taken.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  taken.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  taken.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  taken.bytes = 1024 * static_cast<double>(used.ru_maxrss);
  return taken;
}

}  // namespace

TEST_CASE("a dry run's time, memory and disk are what the sweep then takes") {
  const Folder folder;
  folder.write("s.toml",
               "threads = 1\nestimator = 'aep_transposed'\nbeta = 0.01\n[model]\nchannels = 48\ntokens = 24\n"
               "memories = 128\nheads = 2\n[relaxation]\nfree_steps = 20\nnudged_steps = 20\n[train]\nsteps = 60\n"
               "batch = 8\nwarmup = 2\nevaluate_every = 20\nevaluation_batches = 2\n"
               "[sweep]\nseeds = [1, 2]\n[sweep.grid]\n'model.heads' = [1, 2]\n");
  const Taken dry = take(folder, "sweep s.toml --dry-run --json", "estimate.json");
  REQUIRE(dry.exit_code == 0);
  const auto estimate = nlohmann::json::parse(read_file(folder.file("estimate.json")));
  const Taken run = take(folder, "sweep s.toml --out s.h5", "table.txt");
  REQUIRE(run.exit_code == 0);
  REQUIRE(estimate["at_once"] == 1);

  // Time: the estimate is of the clock. Beside other programs the clock runs faster than the process by wall/CPU of the dry run
  // itself, so estimate * CPU/wall is in seconds of CPU. Of the 240 steps each kind's 37 or 1 were timed: a slice of some 10 ms that
  // another program takes falls on them or not, and may halve or double what is seen of 50 ms; a processor's clock and its
  // shared cache make up to 1.5. Together a
  // factor 3: wide, but a kind, a seed's steps times another number, or a clock of eight busy programs falls out of it.
  const double cpu_s = estimate["seconds"].get<double>() * dry.cpu_s / dry.wall_s;
  INFO("estimated " << cpu_s << " s of CPU, took " << run.cpu_s);
  CHECK(cpu_s < 3 * run.cpu_s);
  CHECK(cpu_s > run.cpu_s / 3);

  // Memory: the largest resident set is the estimate and what the short run did not have: the file in memory and the library
  // that writes it (5 MB seen), what malloc keeps of earlier points (as much as a point again), pages of code. A quarter of
  // some 50 MB to either side holds them all.
  // The address sanitizer keeps what was freed for a while.
  if (!NUDGE_SANITIZED) CHECK(estimate["memory_bytes"].get<double>() == Approx(run.bytes).epsilon(0.25));

  // Disk: the same tables, and HDF5 stores numbers uncompressed; only the digits of times in texts may differ.
  const auto size = static_cast<double>(std::filesystem::file_size(folder.file("s.h5")));
  CHECK(estimate["file_bytes"].get<double>() == Approx(size).epsilon(0.02));
}
