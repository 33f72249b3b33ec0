// SPDX-License-Identifier: Apache-2.0
// Finished runs are never dropped: a study that is resumed with other seeds or values keeps them beside.

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/compare.hpp"
#include "training/compare/merge.hpp"
#include "training/config/config_table.hpp"
#include "training/sweep/sweep.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

using Texts = std::vector<std::string>;
const Texts kOwn = {"started", "wall_time_s", "machine"};

const std::string kModel =
    "threads = 1\nestimator = 'aep_transposed'\nbeta = 0.01\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = "
    "2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n[train]\nsteps = 3\nbatch = 2\nwarmup = 2\nevaluate_every = 0\n"
    "evaluation_batches = 1\ntest_batches = 2\n";

ConfigSource sweep_of(const Texts& settings = {}) {
  return {"s.toml",
          kModel + "[sweep]\nseeds = [1, 2]\n[sweep.grid]\nbeta = [0.1, 0.2]\n'train.optimizer' = ['adam', 'sgd']\n",
          settings};
}

ConfigSource comparison_of(const Texts& settings = {}) {
  return {"c.toml",
          kModel +
              "[compare]\nentrants = ['bptt', 'ep']\ntuning_seeds = [1]\ntest_seeds = [3, 4]\n[compare.grid]\n"
              "'train.learning_rate' = [1e-6, 1e-2]\n",
          settings};
}

/// Counts the points that are run, and stops after some.
struct Counter {
  std::size_t seen = 0, stop_at = 1000;
  SweepObserver observer() {
    return {.finished = [this](const Sweep&, const SweepPoint&, std::size_t) { ++seen; },
            .stop = [this] { return seen >= stop_at; }};
  }
};

template <class Run>
std::string error_of(const Run& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a sweep resumed with a smaller grid keeps what is outside, counts it nowhere, and finds it again") {
  const TemporaryDirectory folder;
  const auto file = folder / "s.h5";
  run_sweep(sweep_of(), {folder / "whole.h5"});
  for (const char* less : {"sweep.grid.beta=[0.1]", "sweep.seeds=[2]", "sweep.mode=zip"}) {
    std::filesystem::copy_file(folder / "whole.h5", file, std::filesystem::copy_options::overwrite_existing);
    Counter ran;
    const Sweep small = run_sweep(sweep_of({less}), {file, true}, ran.observer());
    CHECK(ran.seen == 0);
    CHECK(small.points.size() == 4);
    CHECK(small.outside.size() == 4);
    const H5Reader kept(file);
    CHECK(kept.integers("points/seed").size() == 4);
    CHECK(kept.integers("plan/seed").size() == 4);
    CHECK(kept.integers("outside/seed").size() == 4);
    CHECK(kept.integer_attribute("outside_runs") == 4);
    CHECK(kept.has("outside_cosine"));
    for (const SweepCell& cell : summarise_sweep(small)) CHECK(cell.runs <= 2);
    run_sweep(sweep_of({less}), {file, true}, ran.observer());  // and once more
    run_sweep(sweep_of(), {file, true}, ran.observer());
    CHECK(ran.seen == 0);
    CHECK(differing_objects(folder / "whole.h5", file, kOwn) ==
          Texts{});  // seconds too come back, but are not compared
  }
}

TEST_CASE("a kill in the midst of a resume with another grid loses no finished run") {
  const TemporaryDirectory folder;
  const auto file = folder / "s.h5";
  run_sweep(sweep_of(), {file});
  const auto whole = folder / "whole.h5";
  std::filesystem::copy_file(file, whole);
  Counter ran{0, 1};  // two new points; stopped after one of them
  CHECK(run_sweep(sweep_of({"sweep.grid.beta=[0.3]", "sweep.seeds=[1]", "sweep.parallel=1"}), {file, true},
                  ran.observer())
            .interrupted);
  CHECK(H5Reader(file).integer_attribute("outside_runs") == 8);
  ran = {};
  run_sweep(sweep_of(), {file, true}, ran.observer());
  CHECK(ran.seen == 0);
  CHECK(H5Reader(file).integer_attribute("outside_runs") == 1);  // the new one
  drop_outside(sweep_of(), {file, true}, Drop::rewrite);
  CHECK(differing_objects(whole, file, kOwn) == Texts{});
}

TEST_CASE("only drop_outside() removes runs, and says which, other axes and other configs are refused") {
  const TemporaryDirectory folder;
  const auto file = folder / "s.h5";
  run_sweep(sweep_of(), {file});
  const ConfigSource less = sweep_of({"sweep.grid.beta=[0.2]"});
  CHECK(drop_outside(less, {file, true}, Drop::tell).outside.size() == 4);
  CHECK_FALSE(H5Reader(file).has("outside"));
  const Sweep dropped = drop_outside(less, {file, true}, Drop::rewrite);
  REQUIRE(dropped.outside.size() == 4);
  CHECK(dropped.outside[0].numbers[0] == 0.1);
  CHECK(H5Reader(file).integers("points/seed").size() == 4);
  Counter ran;
  run_sweep(sweep_of(), {file, true}, ran.observer());
  CHECK(ran.seen == 4);  // they are gone
  const auto resumed = [&](const ConfigSource& source) { return error_of([&] { run_sweep(source, {file, true}); }); };
  CHECK_THAT(resumed(sweep_of({"sweep.grid.train.momentum=[0, 0.5]"})),
             Contains("the file sweeps beta, train.optimizer, the config beta, train.optimizer, train.momentum") &&
                 Contains("start a new sweep with --out"));
  CHECK_THAT(resumed(sweep_of({"train.steps=4", "sweep.grid.beta=[0.1]"})), Contains("train.steps: 3 in the file, 4"));
}

TEST_CASE("merged parts keep what is outside their grid, once") {
  const TemporaryDirectory folder;
  run_sweep(sweep_of(), {folder / "whole.h5"});
  for (const char* part : {"a.h5", "b.h5"}) std::filesystem::copy_file(folder / "whole.h5", folder / part);
  const ConfigSource other = sweep_of({"sweep.grid.beta=[0.1, 0.3]"});
  run_sweep(other, {folder / "a.h5", true, {1, 2}});
  run_sweep(other, {folder / "b.h5", true, {2, 2}});
  const MergeSummary merged = merge_sweeps({folder / "a.h5", folder / "b.h5"}, folder / "ab.h5", MissingPoints::refuse);
  CHECK(merged.points == 8);
  CHECK(merged.outside == 4);
  Counter ran;
  run_sweep(sweep_of({"sweep.grid.beta=[0.1, 0.2, 0.3]"}), {folder / "ab.h5", true}, ran.observer());
  CHECK(ran.seen == 0);
  CHECK_FALSE(H5Reader(folder / "ab.h5").has("outside"));
}

TEST_CASE("a part without points is a file that says so, merges, and can be resumed with a larger grid") {
  const TemporaryDirectory folder;
  const Texts four = {"sweep.seeds=[1]"};
  std::vector<std::filesystem::path> parts;
  for (std::size_t i = 1; i <= 8; ++i) {
    parts.push_back(folder / ("part" + std::to_string(i) + ".h5"));
    run_sweep(sweep_of(four), {parts.back(), false, {i, 8}});
  }
  const H5Reader empty(parts[6]);
  CHECK(empty.text_attribute("shard") == "7/8");
  CHECK(empty.integer_attribute("points_total") == 4);
  CHECK(empty.integers("plan/row") == std::vector<std::int64_t>{-1, -1, -1, -1});
  CHECK_FALSE(empty.has("points"));
  CHECK(merge_sweeps(parts, folder / "all.h5", MissingPoints::refuse).finished == 4);
  run_sweep(sweep_of(four), {folder / "whole.h5"});
  CHECK(differing_objects(folder / "whole.h5", folder / "all.h5", kOwn) == Texts{});
  Counter ran;
  run_sweep(sweep_of(), {parts[6], true, {7, 8}}, ran.observer());
  CHECK(ran.seen == 1);
}

TEST_CASE("a comparison keeps test runs of other seeds and of another choice, and tuning runs of other values") {
  const TemporaryDirectory folder;
  const auto file = folder / "c.h5";
  run_compare(comparison_of(), {folder / "whole.h5"});
  std::filesystem::copy_file(folder / "whole.h5", file);
  Counter ran;
  const Comparison fewer = run_compare(comparison_of({"compare.test_seeds=[4]"}), {file, true}, ran.observer());
  CHECK(ran.seen == 0);
  CHECK(fewer.count_outside() == 2);
  CHECK(fewer.entrants[0].runs == 1);
  CHECK(H5Reader(file).integers("test_outside/seed") == std::vector<std::int64_t>{3, 3});
  // Another grid: other places are chosen, and the runs of the earlier ones stay.
  const Comparison other =
      run_compare(comparison_of({"compare.grid.train.learning_rate=[1e-6]"}), {file, true}, ran.observer());
  CHECK(ran.seen == 4);
  CHECK(other.tuning.points.empty());  // one place: nothing is tuned
  CHECK(other.count_outside() == 4 + 4);
  ran = {};
  run_compare(comparison_of(), {file, true}, ran.observer());
  CHECK(ran.seen == 0);
  CHECK(H5Reader(file).integer_attribute("test_outside_runs") == 4);
  CHECK(drop_outside_compare(comparison_of(), {file, true}, Drop::rewrite).test.outside.size() == 4);
  CHECK(differing_objects(folder / "whole.h5", file, kOwn) == Texts{});
}

TEST_CASE("test runs outlive a tuning that goes on, wherever it is stopped") {
  const TemporaryDirectory folder;
  const auto file = folder / "c.h5";
  run_compare(comparison_of(), {file});
  const ConfigSource wider = comparison_of({"compare.grid.train.learning_rate=[1e-7, 1e-6, 1e-2]", "sweep.parallel=1"});
  Counter ran{0, 1};
  CHECK(run_compare(wider, {file, true}, ran.observer()).interrupted);
  CHECK(H5Reader(file).integers("test_outside/seed").size() == 4);
  CHECK_THAT(error_of([&] { drop_outside_compare(wider, {file, true}, Drop::rewrite); }), Contains("is not complete"));
  ran = {};
  const Comparison rest = run_compare(wider, {file, true}, ran.observer());
  CHECK(ran.seen == 1);  // the other entrant at the new rate; the choice stands, and so do its test runs
  CHECK(rest.test.count_ok() == 4);
  CHECK(rest.count_outside() == 0);
}
