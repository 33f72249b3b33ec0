// SPDX-License-Identifier: Apache-2.0
// One training and one gradient check on several ranks of mpirun. Skipped where the build has no MPI.

#include "tests/apps/run_ranks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"

using namespace nudge::test;
using Catch::Contains;

namespace {

// Five sequences: no number of ranks divides them. The damping control, the growth penalty and a second learner are at work.
const std::string kDigital =
    "estimator = 'aep_transposed'\nbeta = 0.01\nthreads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nsteps = 6\nbatch = 5\nwarmup = 2\nevaluate_every = 3\ncosine_every = 4\nevaluation_batches = 1\n"
    "test_batches = 1\nbeside = 'bptt'\ncheckpoint_every = 2\n[gradcheck]\nestimators = ['aep_transposed', 'ep']\n"
    "finite_difference_entries = 2\nbatches = 1\n";

// Noise, time and the order of pulses enter here; `update` chooses between sums and factors.
const std::string kDevices =
    kDigital +
    "[device]\nmodel = 'soft_bounds'\ng_min = '1 uS'\ng_max = '25 uS'\npulses = 2000\nread_noise = '0.3 %'\n"
    "[growth]\nprobe = 0.1\n";

// Samples: correlations of few rows travel as factors and not as a gradient.
const std::string kSamples =
    "estimator = 'ep_contrastive'\nbeta = 0.1\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = "
    "'classification'\n[hopfield]\nhidden = [40]\n[relaxation]\nfree_steps = 12\nnudged_steps = "
    "12\n[data]\nside_by_side "
    "= 2\n[train]\nsteps = 3\nbatch = 10\nevaluate_every = 3\n";

[[maybe_unused]] std::vector<std::string> differences(const std::string& a, const std::string& b, bool other_threads) {
  auto all = differing_objects(a, b, {"started", "wall_time_s", "threads"});
  if (other_threads) std::erase(all, "attribute config");
  return all;
}

}  // namespace

TEST_CASE("training on 1, 2, 3 and 4 ranks writes the file of one process") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  const Folder folder;
  folder.write("digital.toml", kDigital);
  folder.write("samples.toml", kSamples);
  folder.write("devices.toml", kDevices);
  struct Run {
    std::string arguments;
    std::vector<int> ranks;
  };
  const std::string coincidence =
      " --set crossbar.update=coincidence --set train.optimizer=sgd --set train.momentum=0 --set train.gradient_clip=0";
  const std::string plain = " --set train.optimizer=sgd --set train.momentum=0";  // steps by the factors themselves
  const std::vector<Run> runs = {{"digital.toml", {1, 2, 3, 4}},
                                 {"samples.toml", {2, 3}},
                                 {"samples.toml" + plain, {2, 3}},
                                 {"samples.toml --set relaxation.persistent_states=true --set nudge.sides=random", {2}},
                                 {"devices.toml", {3}},
                                 {"devices.toml" + coincidence, {2}}};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::string& run = runs[k].arguments;
    const std::string name = "run" + std::to_string(k);
    const Outcome alone = run_nudge(folder, "train " + run + " --out " + name + ".h5");
    INFO(alone.errors);
    REQUIRE(alone.exit_code == 0);
    for (const int ranks : runs[k].ranks) {
      const bool two = ranks == 3;
      const std::string file = name + "_" + std::to_string(ranks) + ".h5";
      const Outcome many =
          run_ranks(folder, ranks, "train " + run + (two ? " --set threads=2" : "") + " --out " + file);
      INFO(run << ", " << ranks << " ranks: " << many.errors);
      CHECK(many.exit_code == 0);
      CHECK(many.output.find(file) != std::string::npos);
      CHECK(many.output.find(file) == many.output.rfind(file));  // one rank prints
      CHECK(differences(folder.file(name + ".h5"), folder.file(file), two) == std::vector<std::string>{});
    }
  }
#endif
}

TEST_CASE("a gradient check on 3 ranks has the numbers of one process") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  const Folder folder;
  folder.write("g.toml", kDigital);
  REQUIRE(run_nudge(folder, "gradcheck g.toml --out a.h5").exit_code == 0);
  const Outcome many = run_ranks(folder, 3, "gradcheck g.toml --out b.h5");
  INFO(many.errors);
  CHECK(many.exit_code == 0);
  CHECK(differences(folder.file("a.h5"), folder.file("b.h5"), false) == std::vector<std::string>{});
#endif
}

TEST_CASE("a training is resumed on another number of ranks, and refused as in one process") {
#ifndef NUDGE_MPIRUN
  if (skipped()) return;
#else
  const Folder folder;
  folder.write("d.toml", kDigital);
  const std::string train = "train d.toml --set train.steps=30 --set output.print_every=1 --out ";
  REQUIRE(run_nudge(folder, train + "whole.h5").exit_code == 0);
  // Asked to stop once its second step is known to have ended.
  const std::string stop = "cd '" + folder.file("") + "' && { '" NUDGE_PROGRAM "' " + train +
                           "part.h5 2>log & p=$!; until grep -q 'step *2/' log; do sleep 0.01; done; kill -INT $p; "
                           "wait $p; } >/dev/null";
  REQUIRE(std::system(stop.c_str()) == 0);
  const auto done = nudge::H5Reader(folder.file("part.h5")).integer_attribute("checkpoint_done");
  INFO(done << " of 30 steps");
  CHECK(run_ranks(folder, 2, "train --resume part.h5").exit_code == 0);
  CHECK(differences(folder.file("whole.h5"), folder.file("part.h5"), false) == std::vector<std::string>{});
  run_nudge(folder, "train d.toml --set train.steps=4 --out short.h5");  // another schedule: refused below
  CHECK(run_ranks(folder, 2, "train d.toml --resume short.h5").exit_code == 2);
  CHECK(run_ranks(folder, 2, "train d.toml --out short.h5").exit_code == 2);  // rank 0 alone knows
  CHECK(run_ranks(folder, 2, "train --resume none.h5").exit_code == 2);
#endif
}
