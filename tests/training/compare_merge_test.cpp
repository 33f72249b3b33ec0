// SPDX-License-Identifier: Apache-2.0
// A comparison in parts: the tuning, the choice of the merged file, the test runs.

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/compare.hpp"
#include "training/compare/merge.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

// 3 entrants x 2 rates x 2 seeds of tuning, then 3 entrants x 3 seeds.
const char* const kSmall =
    "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nsteps = 6\nbatch = 2\nwarmup = 2\nevaluate_every = 0\nevaluation_batches = 1\ntest_batches = 1\n"
    "[compare]\nentrants = ['bptt', 'aep_transposed', 'slow: estimator=bptt; train.steps=2']\n"
    "tuning_seeds = [1, 2]\ntest_seeds = [3, 4, 5]\n[compare.grid]\n'train.learning_rate' = [1e-6, 1e-2]\n";

using Settings = std::vector<std::string>;
ConfigSource small(const Settings& settings = {}) { return {"small.toml", kSmall, settings}; }

std::vector<std::string> differences(const std::filesystem::path& a, const std::filesystem::path& b) {
  return differing_objects(a, b, {"started", "wall_time_s", "machine"});
}

struct Study {
  TemporaryDirectory folder;
  Settings settings = {};

  std::filesystem::path file(const std::string& name) const { return folder / (name + ".h5"); }

  /// Part i of n of the tuning.
  std::filesystem::path tune(std::size_t i, std::size_t n) const {
    const auto path = file("tune" + std::to_string(i) + "_" + std::to_string(n));
    const Comparison part = run_compare(small(settings), {path, false, {i, n}});
    CHECK_FALSE(part.interrupted);
    CHECK(part.waits == (n > 1));
    return path;
  }
  /// Part i of n of the test runs that a merged tuning asks for.
  std::filesystem::path test(const std::filesystem::path& tuned, std::size_t i, std::size_t n) const {
    const auto path = file("test" + std::to_string(i) + "_" + std::to_string(n));
    std::filesystem::copy_file(tuned, path);
    const Comparison part = run_compare(small(settings), {path, true, {i, n}});
    CHECK_FALSE(part.interrupted);
    CHECK_FALSE(part.waits);
    return path;
  }
  std::filesystem::path merge(const std::vector<std::filesystem::path>& parts, const std::string& name) const {
    merge_sweeps(parts, file(name), MissingPoints::refuse);
    return file(name);
  }
  std::string merge_error(const std::vector<std::filesystem::path>& parts) const {
    try {
      merge(parts, "refused");
    } catch (const UserError& error) {
      CHECK_FALSE(std::filesystem::exists(file("refused")));
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST_CASE("merging any partition of a comparison's tuning and of its test runs gives the file of one process") {
  const Study study;
  run_compare(small(), {study.file("whole")});
  for (const std::size_t n : {2, 5, 13}) {  // 13: more parts than points of either table
    std::vector<std::filesystem::path> tuning, test;
    for (std::size_t i = n; i >= 1; --i) tuning.push_back(study.tune(i, n));
    const auto tuned = study.merge(tuning, "tuned" + std::to_string(n));
    CHECK(H5Reader(tuned).texts("entrants/chosen") == H5Reader(study.file("whole")).texts("entrants/chosen"));
    CHECK_FALSE(H5Reader(tuned).has("test/seed"));
    for (std::size_t i = 1; i <= n; ++i) test.push_back(study.test(tuned, i, n));
    const auto merged = study.merge(test, "merged" + std::to_string(n));
    CHECK(differences(study.file("whole"), merged) == std::vector<std::string>{});
    if (n == 5) {  // what a merged tuning lacks can as well be run by one process, and all parts merge at once
      CHECK_FALSE(run_compare(small(), {tuned, true}).interrupted);
      CHECK(differences(study.file("whole"), tuned) == std::vector<std::string>{});
      test.insert(test.end(), tuning.begin(), tuning.end());
      CHECK(differences(study.file("whole"), study.merge(test, "all")) == std::vector<std::string>{});
    }
  }
}

TEST_CASE("parts of a comparison that lack points, overlap with other numbers or are of something else are refused") {
  const Study study;
  const auto first = study.tune(1, 2), second = study.tune(2, 2);
  CHECK_THAT(study.merge_error({first}), Contains("6 of 12 points of the tuning are in none of the files") &&
                                             Contains("\n  bptt, ") && !Contains("entrant =") &&
                                             Contains("nudge compare --resume"));
  CHECK_THAT(study.merge_error({study.tune(1, 3), study.tune(2, 3)}), Contains("4 of 12 points of the tuning"));
  const auto tuned = study.merge({first, second, study.file("tune1_3")}, "tuned");  // an overlap with the same bits
  const auto test = study.test(tuned, 1, 3);
  CHECK_THAT(study.merge_error({test, study.test(tuned, 2, 3)}),
             Contains("3 of 9 points of the test are in none of the files") && Contains("seed = 5"));

  Study other;
  other.settings = {"train.batch=3"};
  CHECK_THAT(study.merge_error({first, other.tune(2, 2)}),
             Contains("does not belong to the same compare as") && Contains("train.batch: 2 there, 3 here"));
  other.settings = {"compare.grid.train.learning_rate=[1e-6, 1e-3]"};
  CHECK_THAT(study.merge_error({first, other.tune(2, 4)}), Contains("compare.grid"));

  const ConfigSource sweep{
      "sweep.toml",
      "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
      "[relaxation]\nfree_steps = 2\nnudged_steps = 2\n[train]\nsteps = 1\nbatch = 1\n"
      "evaluation_batches = 1\n[sweep]\nseeds = [1]\n[sweep.grid]\n'train.weight_decay' = [0, 0.5]\n",
      {}};
  run_sweep(sweep, {study.file("sweep")});
  CHECK_THAT(study.merge_error({first, study.file("sweep")}), Contains("kind: compare there, sweep here"));
}

TEST_CASE("test runs at another place than the merged tuning chooses are kept outside, and refused where they count") {
  Study study;
  study.settings = {"compare.grid.train.learning_rate=[1e-6, 1e-7]"};  // chosen without the good rate
  run_compare(small(study.settings), {study.file("poor")});
  study.settings = {"compare.grid.train.learning_rate=[1e-6, 1e-7, 1e-2]"};
  // The longer grid keeps the test runs that are there while its tuning goes on: stopped within it, the file has the old ones.
  std::size_t seen = 0;
  SweepObserver observer;
  observer.finished = [&seen](const Sweep&, const SweepPoint&, std::size_t) { ++seen; };
  observer.stop = [&seen] { return seen >= 2; };
  REQUIRE(run_compare(small(study.settings), {study.file("poor"), true}, observer).interrupted);
  const auto rest = study.tune(1, 2), more = study.tune(2, 2);
  const auto merged = study.merge({study.file("poor"), rest, more}, "merged");
  CHECK_FALSE(H5Reader(merged).has("test"));
  CHECK(H5Reader(merged).integer_attribute("test_outside_runs") == 9);
  const Comparison whole = run_compare(small(study.settings), {merged, true});
  CHECK(whole.test.count_ok() == 9);
  CHECK(whole.count_outside() == 9);

  // Files of older versions have such runs in /test.
  const H5Reader file(merged);
  RowColumns test = read_columns(file, "test");
  for (double& rate : std::get<std::vector<double>>(test.at("test/train.learning_rate").values)) rate = 1e-7;
  H5Document document;
  CHECK_THROWS_WITH(write_merged_entrants(document, parse_program_config("c", file.text_attribute("config")), "c",
                                          read_columns(file, "tuning"), test),
                    Contains("the test runs of \"bptt\" are not at the grid point that the whole tuning chooses"));
}

TEST_CASE("a run of the tuning that failed is a result for the parts that come after it") {
  Study study;
  // implicit_dense needs T*C <= 4096: it fails when it runs, the config alone does not tell.
  study.settings = {"compare.entrants=[\"bptt\", \"implicit_dense: model.tokens=520; relaxation.free_steps=3\"]",
                    "compare.tuning_seeds=[1]", "compare.test_seeds=[2]", "train.steps=1", "train.batch=1"};
  run_compare(small(study.settings), {study.file("whole")});
  const auto tuned = study.merge({study.tune(1, 2), study.tune(2, 2)}, "tuned");
  CHECK(H5Reader(tuned).texts("entrants/chosen")[1].empty());
  const auto merged = study.merge({study.test(tuned, 1, 2), study.test(tuned, 2, 2)}, "merged");
  CHECK(differences(study.file("whole"), merged) == std::vector<std::string>{});
}

TEST_CASE("a grid of one place has nothing to tune: its parts are of the test runs") {
  Study study;
  study.settings = {"compare.grid.train.learning_rate=[1e-2]"};
  run_compare(small(study.settings), {study.file("whole")});
  std::vector<std::filesystem::path> parts;
  for (std::size_t i = 1; i <= 2; ++i) {
    parts.push_back(study.file("part" + std::to_string(i)));
    CHECK_FALSE(run_compare(small(study.settings), {parts.back(), false, {i, 2}}).waits);
  }
  CHECK(differences(study.file("whole"), study.merge(parts, "merged")) == std::vector<std::string>{});
}
