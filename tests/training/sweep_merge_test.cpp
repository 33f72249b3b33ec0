// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/merge.hpp"
#include "training/sweep/farm.hpp"
#include "training/sweep/sweep.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

// The second estimator has no gradient beside its own names of groups; model.heads = 3 breaks a rule.
const char* const kSmall =
    "estimator = 'aep_transposed'\nbeta = 0.01\nthreads = 1\n"
    "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nsteps = 3\nbatch = 2\nevaluate_every = 0\nevaluation_batches = 1\n"
    "[sweep]\nseeds = [1, 2]\ninvalid = 'skip'\n"
    "[sweep.grid]\n'model.heads' = [1, 2, 3]\n'train.optimizer' = ['adam', 'sgd']\n";

ConfigSource small(const std::vector<std::string>& settings = {}) { return {"small.toml", kSmall, settings}; }

/// Times, and what they ran on.
const std::vector<std::string> kTimes = {"started", "wall_time_s", "machine"};

std::vector<std::string> differences(const std::filesystem::path& a, const std::filesystem::path& b) {
  return differing_objects(a, b, kTimes);
}

std::string merge_error(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output) {
  try {
    merge_sweeps(inputs, output, MissingPoints::refuse);
  } catch (const UserError& error) {
    CHECK_FALSE(std::filesystem::exists(output));
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("merging any partition of a sweep gives the file of one process") {
  const TemporaryDirectory folder;
  run_sweep(small(), {folder / "whole.h5"});
  CHECK(H5Reader(folder / "whole.h5").integers("points/seed").size() == 12);
  for (const std::size_t count :
       {1, 2, 3, 5, 20}) {  // 20: more parts than points; empty ones hold the invalid points only
    std::vector<std::filesystem::path> parts;
    for (std::size_t i = count; i >= 1; --i) {  // any order of the files
      parts.push_back(folder / ("part" + std::to_string(count) + "_" + std::to_string(i) + ".h5"));
      const Sweep part = run_sweep(small(), {parts.back(), false, {i, count}});
      CHECK_FALSE(part.interrupted);
    }
    const auto merged = folder / ("merged" + std::to_string(count) + ".h5");
    const MergeSummary summary = merge_sweeps(parts, merged, MissingPoints::refuse);
    CHECK(summary.points == 12);
    CHECK(summary.finished == 12);
    CHECK(summary.failed == 4);  // the invalid ones
    CHECK(differences(folder / "whole.h5", merged) == std::vector<std::string>{});
  }
}

TEST_CASE("merged files merge again, overlaps agree, and what is missing is named or accepted and run") {
  const TemporaryDirectory folder;
  run_sweep(small(), {folder / "whole.h5"});
  run_sweep(small(), {folder / "a.h5", false, {1, 3}});
  run_sweep(small(), {folder / "b.h5", false, {2, 3}});
  CHECK_THAT(merge_error({folder / "a.h5", folder / "b.h5"}, folder / "c.h5"),
             Contains("2 of 12 points are in none of the files") &&
                 Contains("model.heads = 1, train.optimizer = sgd, seed = 1") && Contains("--partial"));
  CHECK(merge_sweeps({folder / "a.h5", folder / "b.h5"}, folder / "ab.h5", MissingPoints::accept).finished == 10);
  run_sweep(small(), {folder / "c.h5", false, {3, 3}});
  merge_sweeps({folder / "ab.h5", folder / "b.h5", folder / "c.h5"}, folder / "abc.h5", MissingPoints::refuse);
  CHECK(differences(folder / "whole.h5", folder / "abc.h5") == std::vector<std::string>{});
  run_sweep(small(), {folder / "ab.h5", true});  // what --partial left is run
  CHECK(differences(folder / "whole.h5", folder / "ab.h5") == std::vector<std::string>{});
  CHECK_THAT(merge_error({folder / "a.h5"}, folder / "a.h5.new"), Contains("points are in none"));
  CHECK_THROWS_WITH(
      merge_sweeps({folder / "a.h5", folder / "b.h5", folder / "c.h5"}, folder / "ab.h5", MissingPoints::refuse),
      Contains("exists already"));
}

TEST_CASE("files of another config, other seeds or a foreign kind are refused by name") {
  const TemporaryDirectory folder;
  run_sweep(small(), {folder / "a.h5", false, {1, 2}});
  run_sweep(small({"beta=0.02"}), {folder / "b.h5", false, {2, 2}});
  CHECK_THAT(merge_error({folder / "a.h5", folder / "b.h5"}, folder / "c.h5"),
             Contains("b.h5 does not belong to the same sweep as") && Contains("beta: 0.01 there, 0.02 here"));
  run_sweep(small({"sweep.seeds=[1, 3]"}), {folder / "s.h5", false, {2, 2}});
  CHECK_THAT(merge_error({folder / "a.h5", folder / "s.h5"}, folder / "c.h5"),
             Contains("sweep.seeds: [1, 2] there, [1, 3] here"));
  run_sweep(small({"sweep.parallel=2", "threads=2"}), {folder / "t.h5", false, {2, 2}});  // change no result
  CHECK(merge_error({folder / "a.h5", folder / "t.h5"}, folder / "c.h5").empty());
}

TEST_CASE("files of another build or processor, and overlaps with other bits, are refused") {
  const TemporaryDirectory folder;
  run_sweep(small(), {folder / "a.h5", false, {1, 2}});
  run_sweep(small(), {folder / "b.h5", false, {2, 2}});
  const auto changed = [&](const std::string& name, const std::function<void(H5Document&)>& change) {
    const H5Reader file(folder / "b.h5");
    H5Document document;
    document.copy_root_attributes(file);
    for (const std::string& group : file.groups()) {
      for (const std::string& a : file.attributes(group)) document.attribute(a, file.attribute(a, group), group);
    }
    for (const std::string& dataset : file.all_datasets()) {
      if (file.type(dataset) == H5Type::text) document.column(dataset, file.texts(dataset), file.meaning(dataset));
      if (file.type(dataset) == H5Type::integer)
        document.column(dataset, file.integers(dataset), file.meaning(dataset));
      if (file.type(dataset) == H5Type::real64)
        document.column(dataset, file.reals<double>(dataset), file.meaning(dataset));
    }
    change(document);
    document.write(folder / name, Overwrite::must_not_exist);
    return folder / name;
  };
  const auto same = changed("same.h5", [](H5Document&) {});
  CHECK(merge_error({folder / "a.h5", folder / "b.h5", same}, folder / "ok.h5").empty());
  const auto build = changed("build.h5", [](H5Document& d) { d.attribute("nudge_version", std::string("0.0.9")); });
  CHECK_THAT(merge_error({folder / "a.h5", build}, folder / "c.h5"),
             Contains("0.0.9 here") && Contains("another build"));
  const auto kernel = changed("kernel.h5", [](H5Document& d) { d.attribute("products", std::string("by hand")); });
  CHECK_THAT(merge_error({folder / "a.h5", kernel}, folder / "c.h5"),
             Contains("products") && Contains("product.kernel"));
  const auto bits = changed("bits.h5", [&](H5Document& d) {
    const H5Reader file(folder / "b.h5");
    auto loss = file.reals<double>("points/final_loss");
    loss[0] = std::nextafter(loss[0], 0);
    d.column("points/final_loss", loss, file.meaning("points/final_loss"));
  });
  CHECK_THAT(merge_error({folder / "a.h5", folder / "b.h5", bits}, folder / "c.h5"),
             Contains("different results of the same point") && Contains("seed = 2"));
}

TEST_CASE("a shard is i/n, and its run can be stopped and resumed") {
  CHECK(read_shard("2/4").text() == "2/4");
  for (const char* wrong : {"", "2", "0/4", "5/4", "2/4x", "a/b", "-1/3", "1/0", "2/ 4"}) {
    CHECK_THROWS_WITH(read_shard(wrong), Contains("--shard 2/8"));
  }
  const TemporaryDirectory folder;
  std::size_t seen = 0;
  SweepObserver observer;
  observer.finished = [&seen](const Sweep&, const SweepPoint&, std::size_t) { ++seen; };
  observer.stop = [&seen] { return seen >= 1; };
  CHECK(run_sweep(small(), {folder / "b.h5", false, {2, 2}}, observer).interrupted);
  CHECK(H5Reader(folder / "b.h5").text_attribute("shard") == "2/2");
  seen = 0;
  observer.stop = {};
  CHECK_FALSE(run_sweep(small(), {folder / "b.h5", true, {2, 2}}, observer).interrupted);
  CHECK(seen == 3);
}

TEST_CASE("a list of tasks gives combinations that were not timed first, then the longest") {
  Sweep sweep;
  for (const char* value : {"a", "b", "c"}) {
    for (const int seed : {1, 2}) sweep.points.push_back({{value}, {std::nan("")}, seed, "", {}});
  }
  sweep.points[2].status = "ok";  // b was timed when it ran with seed 1
  sweep.points[2].seconds = 5;
  TaskList tasks(sweep, Shard{});
  CHECK(tasks.left() == 5);
  CHECK(tasks.next() == 0U);  // a and c are not timed: in the order of the list
  tasks.finished(0, 1.0);
  CHECK(tasks.next() == 4U);
  tasks.finished(4, 9.0);
  CHECK(tasks.next() == 5U);  // c takes 9 s, b 5 s, a 1 s
  CHECK(tasks.next() == 3U);
  CHECK(tasks.next() == 1U);
  CHECK_FALSE(tasks.next());
  std::set<std::size_t> all;
  for (std::size_t i = 1; i <= 4; ++i) {
    TaskList part(sweep, Shard{i, 4});
    while (const auto at = part.next()) CHECK(all.insert(*at).second);
  }
  CHECK(all == std::set<std::size_t>{0, 1, 3, 4, 5});
}
