// SPDX-License-Identifier: Apache-2.0
#include "training/compare/compare.hpp"
#include "tests/support/catch.hpp"
#include "training/compare/advice.hpp"

#include <cmath>
#include <limits>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "sim/base/statistics.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/same_h5.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/data/samples.hpp"
#include "training/data/task.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

const char* const kSmall =
    "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
    "[relaxation]\nfree_steps = 12\nnudged_steps = 12\n"
    "[train]\nsteps = 12\nbatch = 2\nwarmup = 2\nevaluate_every = 0\nevaluation_batches = 2\ntest_batches = 3\n"
    "[compare]\nentrants = ['bptt', 'aep_transposed', 'slow: estimator=bptt; train.steps=2']\n"
    "tuning_seeds = [1, 2]\ntest_seeds = [3, 4, 5]\n[compare.grid]\n'train.learning_rate' = [1e-6, 1e-2]\n";

ConfigSource small(const std::vector<std::string>& settings = {}) { return {"small.toml", kSmall, settings}; }

std::string error_of(const ConfigSource& source) {
  const TemporaryDirectory folder;
  try {
    run_compare(source, {folder / "none.h5", false});
  } catch (const UserError& error) {
    CHECK(files_in(folder) == 0);
    return error.what();
  }
  return "";
}

SweepObserver stop_after(std::size_t points, std::size_t& seen) {
  SweepObserver observer;
  observer.finished = [&seen](const Sweep&, const SweepPoint&, std::size_t) { ++seen; };
  observer.stop = [&seen, points] { return seen >= points; };
  return observer;
}

const std::vector<std::string> kProvenance = {"started", "wall_time_s", "threads", "config"};

SweepPoint tuned(double rate, double loss, const std::string& status = "ok") {
  return {{"e", "rate"}, {std::nan(""), rate}, 1, status, {loss}, {}};
}

}  // namespace

TEST_CASE("the choice is the smallest mean validation loss, failures excluded, and says when it lies at an edge") {
  const std::vector<GridAxis> axes = {{"train.learning_rate", {"0.1", "0.2", "0.3"}}};
  const std::vector<Measure> metrics = {{"validation_loss", "nat", ""}};
  const auto inside = choose(axes, all_combinations(axes), {tuned(0.1, 3), tuned(0.2, 2), tuned(0.3, 4)}, metrics);
  REQUIRE(inside);
  CHECK(inside->combination == Combination{"train.learning_rate=0.2"});
  CHECK(inside->edges.empty());
  CHECK(inside->validation_loss == 2);
  const auto edge = choose(axes, all_combinations(axes), {tuned(0.1, 3), tuned(0.2, 2), tuned(0.3, 1)}, metrics);
  CHECK(edge->edges == std::vector<std::string>{"train.learning_rate"});
  // two seeds each: one failed run rules the second rate out, though its other run is the best of all
  const auto failed = choose(axes, all_combinations(axes),
                             {tuned(0.1, 3), tuned(0.1, 5), tuned(0.2, 0), tuned(0.2, std::nan(""), "broke"),
                              tuned(0.3, 4.5), tuned(0.3, 4.5)},
                             metrics);
  CHECK(failed->combination == Combination{"train.learning_rate=0.1"});
  CHECK_FALSE(
      choose(axes, all_combinations(axes), {tuned(0.1, 1, "x"), tuned(0.2, 1, "x"), tuned(0.3, 1, "x")}, metrics));
  const std::vector<GridAxis> one_value = {{"train.learning_rate", {"0.1"}}};
  const auto fixed = choose(one_value, all_combinations(one_value), {}, metrics);  // nothing to tune
  CHECK(fixed->combination == Combination{"train.learning_rate=0.1"});
  CHECK(fixed->edges.empty());
}

TEST_CASE("an entrant is tuned over the keys that it reads") {
  const std::vector<std::string> settings = {
      "compare.entrants=['bptt', 'ep', 'plain: estimator=ep; train.optimizer=sgd', 'named: preset=noisy_reads']",
      "compare.grid.beta=[0.1, 0.2]", "compare.grid.train.momentum=[0.5, 0.9]",
      "compare.grid.train.learning_rate=[1e-3, 1e-2]"};
  const auto protocol_of = [&](const std::vector<std::string>& all) {
    return read_protocol(parse_program_config("a.toml", kSmall, all), "a.toml");
  };
  const CompareProtocol protocol = protocol_of(settings);
  REQUIRE(protocol.combinations.size() == 4);
  CHECK(protocol.combinations[0].size() == 2);  // backprop by Adam: neither the nudge nor a momentum
  CHECK(protocol.combinations[0][1] == Combination{"train.learning_rate=0.01"});
  CHECK(protocol.combinations[1].size() == 4);
  CHECK(protocol.combinations[2].size() == 8);
  CHECK(protocol.combinations[3].size() == 8);  // a preset's name does not say what it chooses
  CHECK(protocol.tuning_runs() == 22 * protocol.tuning_seeds.size());
  CHECK(protocol.tunes());
  // Where the grid has the optimizer, momentum is read at one of its values.
  const CompareProtocol both = protocol_of({"compare.entrants=['bptt', 'ep']", "compare.grid.train.momentum=[0.5, 0.9]",
                                            "compare.grid.train.optimizer=['adam', 'sgd']"});
  CHECK(both.combinations[0].size() == 6);  // of each rate Adam, and sgd with either momentum
  CHECK_THROWS_WITH(protocol_of({"compare.entrants=['bptt', 'ep']", "compare.grid.train.momentum=[0.5, 0.9]"}),
                    Contains("compare.grid.train.momentum (no method reads it)"));
}

TEST_CASE("exact numbers of an advice are nudged as its devices are") {
  const auto entrants_of = [](const std::string& text) {
    for (const std::string& one : advice_for({"a.toml", text, {}}).source.settings) {
      if (one.starts_with("compare.entrants=")) return one;
    }
    return std::string();
  };
  CHECK_THAT(entrants_of("device.preset = 'ecram'\n"),
             Contains("exact numbers: device.preset=; device.model=digital; estimator=aep_transposed; "
                      "nudge.cost_current=frozen\""));
  CHECK_THAT(entrants_of("device.preset = 'ecram'\nestimator = 'ep'\nnetwork.kind = 'hopfield'\ntask.kind = "
                         "'classification'\n"),
             Contains("exact numbers: device.preset=; device.model=digital\""));
}

TEST_CASE("entrants are estimators or names with settings") {
  const auto read = [](const std::string& entrants) {
    return read_entrants(parse_program_config("a.toml", kSmall, {"compare.entrants=" + entrants}));
  };
  const auto two = read("[\"bptt\", \"ecram: estimator=aep_anchored; device.preset=ecram\"]");
  REQUIRE(two.size() == 2);
  CHECK(two[0].settings == std::vector<std::string>{"estimator=bptt"});
  CHECK(two[1].name == "ecram");
  CHECK(two[1].settings == std::vector<std::string>{"estimator=aep_anchored", "device.preset=ecram"});
  CHECK(read("[\"bptt: device.preset=ecram\", \"ep\"]")[0].settings ==
        std::vector<std::string>{"estimator=bptt", "device.preset=ecram"});
  CHECK_THROWS_WITH(read("[\"bptt\", \"aep_anchord\"]"), Contains("did you mean aep_anchored"));
  CHECK_THROWS_WITH(read("[\"bptt\", \"bptt\"]"), Contains("stands twice"));
  CHECK_THROWS_WITH(read("[\"bptt\", \"x: train.learning_rate=1\"]"), Contains("tuned in compare.grid"));
  CHECK_THROWS_WITH(read("[\"bptt\", \"ep: seed=1\"]"), Contains("set by the protocol"));
  CHECK_THROWS_WITH(read("[\"bptt\", \"ep: data.split_seed=1\"]"), Contains("set by the protocol"));
  CHECK_THROWS_WITH(read("[\"bptt\"]"), Contains("two methods"));
}

TEST_CASE("a comparison tunes every entrant alike, then runs fresh seeds on the test part") {
  const TemporaryDirectory folder;
  const Comparison c = run_compare(small(), {folder / "c.h5", false});
  CHECK(c.tuning.points.size() == 3 * 2 * 2);
  CHECK(c.test.points.size() == 3 * 3);
  CHECK(c.test.count_ok() == 9);
  REQUIRE(c.entrants.size() == 3);
  for (const ComparedEntrant& one : c.entrants) {
    REQUIRE(one.choice);
    CHECK(one.runs == 3);
    CHECK(one.choice->values == std::vector<std::string>{"0.01"});  // a rate of 1e-6 learns nothing in 12 steps
    CHECK(one.choice->edges == std::vector<std::string>{"train.learning_rate"});
  }
  CHECK(c.entrants[0].difference.mean == 0);
  CHECK(c.entrants[2].difference.mean > 0);  // two steps are not twelve
  CHECK(c.entrants[2].difference.low < c.entrants[2].difference.mean);
  CHECK(std::isnan(c.entrants[0].one_run.low));  // no samples
  const H5Reader file(folder / "c.h5");
  CHECK(file.text_attribute("kind") == "compare");
  CHECK(file.texts("entrants/name") == std::vector<std::string>{"bptt", "aep_transposed", "slow"});
  CHECK_FALSE(file.has("tuning/test_loss"));  // no choice sees the test part
  CHECK(file.integers("test/seed") == std::vector<std::int64_t>{3, 4, 5, 3, 4, 5, 3, 4, 5});
  CHECK(file.has("text/unigram"));
  // The test loss is that of a training of the same config.
  const TrainSummary alone =
      train(parse_program_config("small.toml", kSmall, {"estimator=bptt", "train.learning_rate=1e-2", "seed=4"}),
            std::nullopt);
  CHECK(c.test.points[1].metrics.back() == alone.of("test_loss"));
}

TEST_CASE("a comparison killed anywhere resumes to the same content, for any number of threads") {
  const TemporaryDirectory folder;
  run_compare(small(), {folder / "whole.h5", false});
  for (const std::size_t points : {std::size_t{5}, std::size_t{14}}) {  // while tuning, and while testing
    const auto path = folder / ("part" + std::to_string(points) + ".h5");
    std::size_t seen = 0;
    CHECK(run_compare(small({"sweep.parallel=1"}), {path, false}, stop_after(points, seen)).interrupted);
    seen = 0;
    const Comparison rest = run_compare(small({"sweep.parallel=3"}), {path, true}, stop_after(100, seen));
    CHECK_FALSE(rest.interrupted);
    CHECK(seen == 21 - points);
    CHECK(differing_objects(folder / "whole.h5", path, kProvenance) == std::vector<std::string>{});
  }
}

TEST_CASE("a longer grid keeps the runs that are there, another config is refused") {
  const TemporaryDirectory folder;
  run_compare(small(), {folder / "c.h5", false});
  std::size_t seen = 0;
  const Comparison c = run_compare(small({"compare.grid.train.learning_rate=[1e-6, 1e-2, 1e-7]"}),
                                   {folder / "c.h5", true}, stop_after(100, seen));
  CHECK(seen == 3 * 2);  // the tuning of the new rate; the choice stands, and so do its test runs
  CHECK(c.entrants[0].choice->edges.size() == 1);
  const auto refuse = [&](const std::string& setting) {
    try {
      run_compare(small({setting}), {folder / "c.h5", true});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refuse("train.batch=3"), Contains("train.batch: 2 in the file, 3"));
  CHECK_THAT(refuse("compare.entrants=[\"bptt\", \"ep\"]"), Contains("compare.entrants"));
}

TEST_CASE("what is wrong with a comparison is said before the first run") {
  CHECK_THAT(error_of(small({"compare.test_seeds=[2, 3]"})), Contains("must be fresh: 2 is in compare.tuning_seeds"));
  CHECK_THAT(error_of(small({"data.test_fraction=0"})), Contains("data.test_fraction"));
  CHECK_THAT(error_of(small({"compare.grid.model.heads=[2, 3]"})), Contains("must divide model.channels = 8"));
  CHECK_THAT(error_of({"a.toml", "seed = 1\n", {}}), Contains("compare.grid is empty"));
  CHECK_THAT(error_of(small({"compare.grid.seed=[1, 2]"})), Contains("cannot be swept"));
  CHECK_THAT(error_of(small({"compare.test_seeds=[]"})), Contains("compare.test_seeds is empty"));
}

TEST_CASE("a cell with a run that failed has no mean but the median of all, the failed worst") {
  const double failed = failed_value("test_loss");
  const CellSpread all = cell_spread({1, 2, 6}, "test_loss");
  CHECK((all.mean == 3 && all.median == 2 && all.shown() == 3 && all.failed == 0));
  CHECK(all.deviation == Approx(std::sqrt(7.0)));
  const CellSpread one = cell_spread({6, failed, 1}, "test_loss");
  CHECK((std::isnan(one.mean) && std::isnan(one.deviation)));
  CHECK((one.runs == 2 && one.failed == 1 && one.median == 6 && one.shown() == 6));
  CHECK(cell_text(one, "3.5", "6.0") == "6.0 median, 1 of 3 failed");
  CHECK(cell_spread({0.9, failed_value("test_accuracy"), 0.8}, "test_accuracy").median == 0.8);
  const CellSpread most = cell_spread({6, failed, failed}, "test_loss");
  CHECK(std::isnan(most.median));
  CHECK(cell_text(most, "6", "nan") == "-, 2 of 3 failed");
  CHECK(std::isnan(cell_spread({6, 1, failed, failed}, "test_loss").median));  // between 6 and a run that failed
  CHECK(cell_spread({std::nan(""), 1}, "test_loss").runs == 1);
}

TEST_CASE("one of three seeds that failed leaves the entrant without a mean, in the table and in the file") {
  const CompareProtocol protocol = read_protocol(parse_program_config("small.toml", kSmall), "small.toml");
  Sweep test = empty_table(protocol, CompareStage::tests);
  std::vector<ComparedEntrant> entrants;
  for (const Entrant& entrant : protocol.entrants) {
    entrants.push_back({entrant, std::nullopt});
    for (const std::int64_t seed : protocol.test_seeds) {
      std::vector<double> metrics(test.metrics.size(), 0);
      metrics.back() = entrant.name == "slow" ? 1 + static_cast<double>(seed) : 2;  // test_loss: 4, 5, 6
      test.points.push_back({{entrant.name, "0.01"}, {std::nan(""), 0.01}, seed, "ok", metrics});
    }
  }
  summarise(protocol, test, entrants);
  CHECK(entrants[2].test.mean == 5);
  CHECK(entrants[2].difference.mean == 3);
  test.points.back().status = "it does not settle";  // with numbers that are no result
  summarise(protocol, test, entrants);
  const ComparedEntrant& slow = entrants[2];
  CHECK((slow.runs == 2 && slow.failed == 1));
  CHECK((std::isnan(slow.test.mean) && slow.test.median == 5));
  CHECK((std::isnan(slow.difference.mean) && slow.difference.lost == 3 && slow.difference.failed == 1));
  CHECK(entrants[1].difference.mean == 0);
  const TemporaryDirectory folder;
  H5Document document;
  write_entrants(document, entrants, "", "this");
  document.write(folder / "e.h5", Overwrite::must_not_exist);
  const H5Reader file(folder / "e.h5");
  CHECK(std::isnan(file.reals<double>("entrants/test_mean")[2]));
  CHECK(file.reals<double>("entrants/test_median")[2] == 5);
  CHECK(file.reals<double>("entrants/difference_lost")[2] == 3);
  CHECK(file.text_attribute("intervals_hold", "entrants") == "this");
}

TEST_CASE("a comparison on samples draws each seed's parts, the same for all entrants") {
  const TemporaryDirectory folder;
  const char* const digits =
      "threads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\nreferences = ['chance', 'linear']\n"
      "[data]\ntest_fraction = 0.2\n[hopfield]\nhidden = [8]\n"
      "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 4\nnudged_steps = 3\n"
      "[train]\nsteps = 3\nbatch = 4\nevaluate_every = 'end'\nlearning_rate = 1e-2\n"
      "[compare]\nentrants = ['ep', 'fast: estimator=ep; train.steps=2']\ntest_seeds = [4, 5]\n"
      "[compare.grid]\nbeta = [0.3]\n";
  const Comparison c = run_compare({"digits.toml", digits, {}}, {folder / "c.h5", false});
  REQUIRE(c.test.count_ok() == 4);
  CHECK_THAT(c.holds, Contains("seeds and splits into training and validation") && Contains("data.test_seed = 0"));
  const auto test_loss = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> all = {"estimator=ep", "beta=0.3"};
    all.insert(all.end(), settings.begin(), settings.end());
    return train(parse_program_config("digits.toml", digits, all), std::nullopt).of("test_loss");
  };
  const auto metric = [](const Sweep& sweep, std::size_t point, const std::string& name) {
    return sweep.points[point].metrics[place_named(sweep.metrics, name)];
  };
  CHECK(metric(c.test, 0, "test_loss") == test_loss({"seed=4", "data.split_seed=4"}));
  CHECK(metric(c.test, 1, "test_loss") == test_loss({"seed=5", "data.split_seed=5"}));
  CHECK(metric(c.test, 3, "test_loss") == test_loss({"seed=5", "data.split_seed=5", "train.steps=2"}));
  // 1797 samples, a fifth: 359. The interval is that of so many.
  CHECK(metric(c.test, 0, "test_samples") == 359);
  const ComparedEntrant& ep = c.entrants.front();
  CHECK(ep.test_samples == 359);
  CHECK(ep.one_run.low == Approx(share_interval(ep.test_score.mean, 359).low));
  REQUIRE(c.references);
  CHECK(c.references->splits == 2);
  // The test part of every run is one that no tuning run trains or chooses on: the fit to other samples, scored on it.
  const auto test_part = [&](const std::string& seed) {
    return load_samples(sample_options(parse_program_config(
                            "digits.toml", digits, {"data.split_seed=seed", "data.scaling=none", "seed=" + seed})),
                        Target::label)
        .test;
  };
  CHECK(test_part("1").features == test_part("4").features);
  const auto linear = [&](const std::string& seed) {
    const Config config = parse_program_config("digits.toml", digits, {"seed=" + seed, "data.split_seed=seed"});
    ReferenceRequest request;
    request.models = {"linear"};
    return make_task(config)->references(request)->find("linear", "test")->score;
  };
  CHECK(c.references->find("linear", "test")->score == Approx(0.5 * (linear("4") + linear("5"))).epsilon(1e-12));
  // A number that the config names stands, and says so.
  const Comparison fixed = run_compare({"digits.toml", digits, {"data.split_seed=0"}}, {folder / "f.h5", false});
  CHECK(metric(fixed.test, 1, "test_loss") == test_loss({"seed=5"}));
  CHECK_THAT(fixed.holds, Contains("one split, data.split_seed = 0"));
  CHECK(fixed.references->splits == 1);
  CHECK_THAT(error_of({"digits.toml", digits, {"compare.grid.data.split_seed=[1, 2]"}}), Contains("drawn, not tuned"));
  CHECK_THAT(intervals_hold(parse_program_config("small.toml", kSmall)), Contains("one text"));
}

TEST_CASE("places are judged by three tuning seeds unless the config says otherwise") {
  CHECK(parse_program_config("a.toml", "").integers("compare.tuning_seeds").size() >= 3);
}

TEST_CASE("a failed run is listed and not averaged") {
  const TemporaryDirectory folder;
  // implicit_dense needs T*C <= 4096: it fails when it runs, the config alone does not tell.
  const Comparison c =
      run_compare(small({"compare.entrants=[\"bptt\", \"implicit_dense: model.tokens=520; relaxation.free_steps=3\"]",
                         "compare.tuning_seeds=[1]", "compare.test_seeds=[2]", "train.steps=1", "train.batch=1",
                         "train.test_batches=1", "train.evaluation_batches=1"}),
                  {folder / "c.h5", false});
  CHECK_FALSE(c.entrants[1].choice);
  CHECK(c.entrants[1].runs == 0);
  CHECK(c.entrants[0].runs == 1);
  CHECK(c.tuning.points[2].status != "ok");
  CHECK(std::isnan(c.entrants[1].test.mean));
}
