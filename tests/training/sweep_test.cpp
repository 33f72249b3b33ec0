// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/sweep/sweep.hpp"
#include "training/sweep/sweep_grid.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kSmall =
    "estimator = 'aep_transposed'\nbeta = 0.01\n"
    "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[device]\nmodel = 'soft_bounds'\n"
    "[train]\nsteps = 4\nbatch = 2\nevaluate_every = 0\nevaluation_batches = 1\n"
    "[sweep]\nseeds = [1, 2]\n"
    "[sweep.grid]\n'device.programming_error' = [0, '5 %']\n'train.optimizer' = ['adam', 'sgd']\n";

ConfigSource small(const std::vector<std::string>& settings = {}) { return {"small.toml", kSmall, settings}; }

std::string error_of(const ConfigSource& source, const SweepFiles& files) {
  try {
    run_sweep(source, files);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

/// Stops the sweep after some points.
SweepObserver stop_after(std::size_t points, std::size_t& seen) {
  SweepObserver observer;
  observer.finished = [&seen](const Sweep&, const SweepPoint&, std::size_t) { ++seen; };
  observer.stop = [&seen, points] { return seen >= points; };
  return observer;
}

/// A heat that is not known is NaN.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

TEST_CASE("a sweep runs every combination with every seed and writes them in the order of the grid") {
  const TemporaryDirectory folder;
  const Sweep sweep = run_sweep(small(), {folder / "sweep.h5", false});
  REQUIRE(sweep.points.size() == 8);
  CHECK(sweep.count_ok() == 8);
  const H5Reader file(folder / "sweep.h5");
  CHECK(file.text_attribute("kind") == "sweep");
  CHECK(file.text_attribute("keys", "points") == "device.programming_error, train.optimizer");
  CHECK(file.reals<double>("points/device.programming_error") ==
        std::vector<double>{0, 0, 0, 0, 0.05, 0.05, 0.05, 0.05});
  CHECK(file.texts("points/train.optimizer")[2] == "sgd");
  CHECK(file.integers("points/seed") == std::vector<std::int64_t>{1, 2, 1, 2, 1, 2, 1, 2});
  for (const double loss : file.reals<double>("points/final_loss")) CHECK(std::isfinite(loss));
  for (const double cosine : file.reals<double>("points/cosine")) CHECK(cosine > 0.5);  // compared at the last step
  const auto cells = summarise_sweep(sweep);
  REQUIRE(cells.size() == 4);
  const double a = sweep.points[0].metrics[0], b = sweep.points[1].metrics[0];
  CHECK(cells[0].results[0].mean == Approx((a + b) / 2));
  CHECK(cells[0].results[0].deviation == Approx(std::abs(a - b) / std::sqrt(2.0)));
}

TEST_CASE("a sweep of one key at a time leaves the baseline along each axis") {
  const TemporaryDirectory folder;
  const Sweep sweep =
      run_sweep(small({"sweep.mode=one_at_a_time", "sweep.seeds=[1]", "train.steps=1"}), {folder / "sweep.h5", false});
  REQUIRE(sweep.points.size() == 3);
  const H5Reader file(folder / "sweep.h5");
  CHECK(file.text_attribute("mode", "points") == "one_at_a_time");
  CHECK(file.reals<double>("points/device.programming_error") == std::vector<double>{0, 0.05, 0});
  CHECK(file.texts("points/train.optimizer") == std::vector<std::string>{"adam", "adam", "sgd"});
}

TEST_CASE("the baseline of one key at a time is the config, whatever the axes list first") {
  const TemporaryDirectory folder;
  const ConfigSource source{"a.toml",
                            "beta = 0.01\n[sweep]\nmode = 'one_at_a_time'\n[sweep.grid]\n'train.optimizer' = ['sgd']\n"
                            "'model.heads' = [2, 1]\n'beta' = [0.02, 1e-2, '0.03']\n",
                            {"train.steps=1", "train.batch=1", "model.channels=8", "model.tokens=6", "model.memories=8",
                             "model.heads=1", "train.evaluation_batches=1"}};
  const SweepGrid grid = make_sweep_grid(source);
  const auto values = [&grid](std::size_t point) { return grid.sweep.points[point].values; };
  REQUIRE(grid.sweep.points.size() == 5);
  CHECK(values(0) == std::vector<std::string>{"adam", "1", "0.01"});
  CHECK(values(1) == std::vector<std::string>{"sgd", "1", "0.01"});
  CHECK(values(2) == std::vector<std::string>{"adam", "2", "0.01"});
  CHECK(values(3) == std::vector<std::string>{"adam", "1", "0.02"});
  CHECK(values(4) == std::vector<std::string>{"adam", "1", "0.03"});
}

TEST_CASE("results of a sweep do not depend on how many points run at the same time") {
  const TemporaryDirectory folder;
  const Sweep one = run_sweep(small({"sweep.parallel=1"}), {folder / "one.h5", false});
  const Sweep four = run_sweep(small({"sweep.parallel=4", "threads=2"}), {folder / "four.h5", false});
  for (std::size_t i = 0; i < one.points.size(); ++i) CHECK(same_bits(one.points[i].metrics, four.points[i].metrics));
}

TEST_CASE("a stopped sweep keeps what is done and resumes to the same numbers") {
  const TemporaryDirectory folder;
  const Sweep whole = run_sweep(small(), {folder / "whole.h5", false});
  std::size_t seen = 0;
  const Sweep part = run_sweep(small({"sweep.parallel=1"}), {folder / "part.h5", false}, stop_after(3, seen));
  CHECK(part.interrupted);
  CHECK(H5Reader(folder / "part.h5").integers("points/seed").size() == 3);
  CHECK_THAT(error_of(small(), {folder / "part.h5", false}), Contains("exists already"));
  CHECK_THAT(error_of(small({"beta=0.02"}), {folder / "part.h5", true}), Contains("beta: 0.01 in the file, 0.02"));
  seen = 0;
  const Sweep rest = run_sweep(small(), {folder / "part.h5", true}, stop_after(100, seen));
  CHECK(seen == 5);
  for (std::size_t i = 0; i < whole.points.size(); ++i)
    CHECK(same_bits(whole.points[i].metrics, rest.points[i].metrics));
}

TEST_CASE("a stopped sweep keeps a training that has not ended and takes it up again") {
  const TemporaryDirectory folder;
  const std::vector<std::string> one = {"sweep.grid.device.programming_error=[0]", "sweep.seeds=[1]",
                                        "sweep.parallel=1", "train.steps=40", "train.checkpoint_every=1"};
  const Sweep whole = run_sweep(small(one), {folder / "whole.h5", false});
  REQUIRE(whole.count_ok() == 2);
  // Asked after every step, and before every point: the second training is stopped at its 20th step.
  int asked = 0;
  SweepObserver observer;
  observer.stop = [&asked] { return ++asked > 60; };
  SweepFiles files{folder / "part.h5", false};
  files.point_every_s = 0;
  const Sweep part = run_sweep(small(one), files, observer);
  CHECK(part.interrupted);
  CHECK(part.count_ok() == 1);
  CHECK(files_in(folder) == 3);  // and what the second has done
  asked = 0;
  files.resume = true;
  observer.stop = [&asked] { return ++asked > 1000; };
  const Sweep rest = run_sweep(small(one), files, observer);
  CHECK(rest.count_ok() == 2);
  CHECK(asked < 30);  // 20 steps, not 40
  CHECK(files_in(folder) == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(whole.points[i].metrics, rest.points[i].metrics));

  // A file that is no checkpoint of this point is not asked: the training begins anew, to the same numbers.
  files = {folder / "again.h5", false};
  files.point_every_s = 0;
  asked = 0;
  observer.stop = [&asked] { return ++asked > 20; };
  CHECK(run_sweep(small(one), files, observer).interrupted);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().string().find("again.h5.") == std::string::npos) continue;
    std::filesystem::copy_file(folder / "whole.h5", entry.path(), std::filesystem::copy_options::overwrite_existing);
  }
  files.resume = true;
  const Sweep again = run_sweep(small(one), files);
  CHECK(files_in(folder) == 3);
  for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(whole.points[i].metrics, again.points[i].metrics));
}

TEST_CASE("a sweep that begins anew does not go on from what an earlier one of its name kept") {
  const TemporaryDirectory folder;
  const std::vector<std::string> one = {"sweep.grid.device.programming_error=[0]",
                                        "sweep.grid.train.optimizer=['adam']",
                                        "sweep.seeds=[1]",
                                        "sweep.parallel=1",
                                        "train.steps=20",
                                        "train.checkpoint_every=1"};
  SweepFiles files{folder / "sweep.h5", false};
  files.point_every_s = 0;
  int asked = 0;
  SweepObserver observer;
  observer.stop = [&asked] { return ++asked > 10; };
  REQUIRE(run_sweep(small(one), files, observer).interrupted);
  REQUIRE(files_in(folder) == 2);
  std::filesystem::remove(files.output);
  asked = 0;
  observer.stop = [&asked] {
    ++asked;
    return false;
  };
  CHECK(run_sweep(small(one), files, observer).count_ok() == 1);
  CHECK(asked > 20);  // all steps
  CHECK(files_in(folder) == 1);
}

TEST_CASE("what is wrong with any point is said before the first run") {
  const TemporaryDirectory folder;
  const SweepFiles files{folder / "none.h5", false};
  const std::string error = error_of(small({"sweep.grid.model.heads=[2, 3]"}), files);
  CHECK_THAT(error, Contains("at ") && Contains("model.heads=3") && Contains("must divide model.channels = 8"));
  CHECK(error.find("must divide") == error.rfind("must divide"));  // said once
  CHECK_THAT(error, Contains(" other"));
  CHECK_THAT(error_of(small({"sweep.grid.model.tokens=[6, 60000]"}), files), Contains("characters"));
  CHECK_THAT(error_of({"a.toml", "seed = 1\n", {}}, files), Contains("sweep.grid is empty"));
  CHECK_THAT(error_of(small({"sweep.grid.seed=[1, 2]"}), files), Contains("sweep.seeds"));
  CHECK(files_in(folder) == 0);
}

TEST_CASE("a point that fails is recorded with its reason and the others go on") {
  const TemporaryDirectory folder;
  // implicit_dense needs T*C <= 4096: the second point fails when it runs, the config alone does not tell.
  const Sweep sweep =
      run_sweep({"a.toml",
                 "[model]\nchannels = 8\nheads = 2\nmemories = 8\n[train]\nbatch = 1\nsteps = 1\n"
                 "evaluate_every = 0\nevaluation_batches = 1\ncosine_every = 5\n[relaxation]\nfree_steps = 3\n"
                 "[sweep.grid]\n'model.tokens' = [8, 520]\n'estimator' = ['implicit_dense']\n",
                 {}},
                {folder / "sweep.h5", false});
  REQUIRE(sweep.points.size() == 2);
  CHECK(sweep.points[0].status == "ok");
  CHECK_THAT(sweep.points[1].status, Contains("implicit_dense"));
  CHECK(std::isnan(sweep.points[1].metrics[0]));
  CHECK(summarise_sweep(sweep)[1].failed == 1);
  // Were both points seeds of one place, the place would have no mean and a median that the failed run ranks worst in.
  Sweep two = sweep;
  two.points[1].values = two.points[0].values;
  two.points.push_back(two.points[0]);
  const CellSpread loss = summarise_sweep(two)[0].results[0];
  CHECK((loss.runs == 2 && loss.failed == 1));
  CHECK(std::isnan(loss.mean));
  CHECK(loss.median == two.points[0].metrics[0]);
}

TEST_CASE("a sweep of gradient checks measures the configured estimator") {
  const TemporaryDirectory folder;
  const Sweep sweep = run_sweep(
      {"a.toml",
       "precision = 'double'\n[model]\nchannels = 8\nheads = 2\nmemories = 8\ntokens = 6\nattention_scale = 1\n"
       "[relaxation]\nfree_steps = 80\nnudged_steps = 80\n[train]\nbatch = 2\n[sweep]\nrun = 'gradcheck'\n"
       "[sweep.grid]\nestimator = ['ep', 'aep_anchored']\n'model.attention_gain' = [0, 1]\n",
       {}},
      {folder / "sweep.h5", false});
  REQUIRE(sweep.points.size() == 4);
  CHECK(sweep.count_ok() == 4);
  const auto error = [&](std::size_t i) { return sweep.points[i].metrics[1]; };
  CHECK(error(0) < 1e-3);  // without attention the force has an energy: EP is right, up to gates that flip (1e-4)
  CHECK(error(1) > 1e-2);
  CHECK(error(3) < 1e-3);
}

TEST_CASE("a swept preset brings its values along") {
  const TemporaryDirectory folder;
  const Sweep sweep =
      run_sweep({"a.toml",
                 "[model]\nchannels = 8\nheads = 2\nmemories = 8\ntokens = 6\n[train]\nsteps = 2\nbatch = 2\n"
                 "evaluate_every = 0\nevaluation_batches = 1\n[sweep.grid]\npreset = ['', 'noisy_reads']\n",
                 {}},
                {folder / "sweep.h5", false});
  REQUIRE(sweep.count_ok() == 2);
  CHECK(sweep.points[0].metrics[2] != sweep.points[1].metrics[2]);
}

TEST_CASE("what is said of a study's choices holds in every one of its runs", "[sweep]") {
  const auto given = [](const std::string& grid, const std::string& key, const std::string& more = "") {
    const std::string text = "estimator = 'aep_transposed'\n[model]\nchannels = 8\nheads = 2\nmemories = 8\n" + more;
    for (const GivenValue& one : study_given({"a.toml", text + grid, {}})) {
      if (one.key == key) return one.value;
    }
    return std::string();
  };
  // The config alone has no devices, and beta = 0.0001; no run of the first sweep has it, one of the second.
  CHECK_THAT(given("[sweep.grid]\n'device.preset' = ['ecram', 'capacitor']\n", "beta"), Contains("chosen by each run"));
  CHECK(given("[sweep.grid]\n'device.preset' = ['', 'ecram']\n", "beta").empty());
  CHECK(given("[sweep.grid]\n'precision' = ['double', 'float']\n", "beta").empty());
  CHECK(given("[sweep.grid]\n'hardware.level' = ['ideal', 'mixed']\n", "beta", "[device]\npreset = 'ecram'\n").empty());
  CHECK_FALSE(given("[sweep.grid]\n'train.learning_rate' = [0.1, 0.2]\n", "beta").empty());
  const std::string methods =
      "[compare]\nentrants = ['bptt', 'ecram: estimator=aep_transposed; device.preset=ecram']\n";
  CHECK(given(methods, "beta").empty());
}
