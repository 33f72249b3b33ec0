// SPDX-License-Identifier: Apache-2.0
// Nulls of a training on devices, and what is said of what the devices learnt.
#include "training/train/null_runs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/config/run_parts.hpp"
#include "training/train/noise_gradient.hpp"
#include "training/train/train_json.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

NullResult result_of(std::vector<NullGain> gains, std::vector<std::string> not_run = {}) {
  return {"test", "nat", std::move(gains), std::move(not_run)};
}

const NullGain kBeaten{"readout", {0.45, 0.4, 0.5, 360}};

/// Settings of samples of 8 features and 4 classes on ecram, with every null. `told`: how far the class moves a
/// feature; 0: the labels are as good as shuffled.
Config samples_config(const TemporaryDirectory& dir, double told, unsigned seed, const Settings& more = {}) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  const std::filesystem::path file = dir / fmt::format("samples_{}_{}.csv", told, seed);
  std::ofstream out(file);
  for (int i = 0; i < 600; ++i) {
    const int label = static_cast<int>(generator() % 4);
    out << label;
    for (int f = 0; f < 8; ++f) out << ',' << (f % 4 == label ? told : 0) + normal(generator);
    out << '\n';
  }
  Settings all{fmt::format("seed={}", seed + 1), "data.file=" + file.string()};
  all.insert(all.end(), more.begin(), more.end());
  return parse_program_config(
      "samples.toml",
      "threads = 1\nestimator = 'ep'\n"
      "network.kind = 'hopfield'\nhopfield.hidden = [16]\ntask.kind = 'classification'\n"
      "task.references = 'off'\ndevice.preset = 'ecram'\n"
      "[train]\nnull = 'all'\nsteps = 100\nwarmup = 5\nevaluate_every = 0\nlearning_rate = 1e-2\n",
      all);
}

/// The character model on ecram, on a text without structure: letters drawn one by one.
Config letters_config(const TemporaryDirectory& dir, unsigned seed) {
  std::mt19937 generator(seed);
  const std::filesystem::path file = dir / fmt::format("letters_{}.txt", seed);
  std::ofstream out(file);
  for (int i = 0; i < 20000; ++i) out << "aaaaeeeeiioottnnssrrhldcumfpgwybvk  "[generator() % 36];
  return tiny_config({fmt::format("seed={}", seed + 1), "data.text=" + file.string(), "hardware.level=mixed",
                      "device.preset=ecram", "train.null=all", "train.steps=100", "train.evaluate_every=0",
                      "estimator=aep_transposed", "train.test_batches=20"});
}

/// Number of runs whose devices are said to have learnt.
template <class MakeConfig>
int said_to_learn(unsigned runs, MakeConfig config) {
  int learnt = 0;
  for (unsigned seed = 0; seed < runs; ++seed) {
    const TrainSummary run = train(config(seed), std::nullopt);
    REQUIRE(run.null.has_value());
    learnt += run.null->learnt() == std::optional(true) ? 1 : 0;
  }
  return learnt;
}

}  // namespace

TEST_CASE("devices have learnt where every null is beaten", "[train]") {
  const NullResult all = result_of({kBeaten, {"frozen_devices", {0.6, 0.5, 0.7, 360}}});
  CHECK(all.learnt() == std::optional(true));
  CHECK(
      all.verdict() ==
      "the devices learnt: 0.4500 nat [0.4000, 0.5000] below the strongest null, read-out alone (95 % over 2 nulls at "
      "once, 360 test samples)");
  const NullResult within = result_of({kBeaten, {"noise_gradient", {0.02, -0.01, 0.05, 360}}});
  CHECK(within.learnt() == std::optional(false));
  CHECK_THAT(within.verdict(), Contains("no sign that the devices learnt: 0.0200 nat [-0.0100, 0.0500]") &&
                                   Contains("strongest null, noise gradient, and the interval contains 0"));
  const NullResult worse = result_of({kBeaten, {"constant", {-0.3, -0.4, -0.2, 360}}});
  CHECK(worse.learnt() == std::optional(false));
  CHECK_THAT(worse.verdict(), Contains("nothing that helps: a constant answer ends 0.3000 nat [0.2000, 0.4000] lower"));
}

TEST_CASE("what the devices learnt is open while a null was not run, unless one wins already", "[train]") {
  const NullResult open = result_of({kBeaten}, {"noise_gradient"});
  CHECK_FALSE(open.learnt().has_value());
  CHECK_THAT(open.verdict(), Contains("is open: no baseline run with noise gradient was made (set train.null = all)") &&
                                 Contains("0.4500 nat [0.4000, 0.5000] below read-out alone"));
  CHECK(result_of({{"constant", {-0.3, -0.4, -0.2, 360}}}, {"readout"}).learnt() == std::optional(false));
}

TEST_CASE("a noise gradient has the norms of the gradient and leaves the read-out alone", "[train]") {
  const std::vector<ParameterShape> shapes{{4, 5}, {5, 3}, {1, 3}, {2, 2}};
  Gradient<double> gradient(shapes);
  for (int p = 0; p < 4; ++p) gradient[p] = random_matrix<double>(shapes[p].rows, shapes[p].cols, 10u + p);
  const Gradient<double> before = gradient;
  std::vector<std::vector<FactorPair<double>>> factors(4);
  factors[3].push_back({{0, 2}, 1.0, random_matrix<double>(3, 2, 1), random_matrix<double>(3, 2, 2)});
  const auto kept = factors;
  replace_by_noise<double>({1, 7, {1, 0, Normalization::none, 2}}, gradient, factors);
  CHECK(gradient[1] == before[1]);
  CHECK(gradient[2] == before[2]);
  for (const int p : {0, 3}) {
    CHECK(gradient[p].norm() == Approx(before[p].norm()).epsilon(1e-12));
    CHECK_FALSE(gradient[p] == before[p]);
  }
  CHECK(factors[3][0].x == kept[3][0].x);
  for (Index row = 0; row < 3; ++row)
    CHECK(factors[3][0].y.row(row).norm() == Approx(kept[3][0].y.row(row).norm()).epsilon(1e-12));
  Gradient<double> again = before, other = before;
  std::vector<std::vector<FactorPair<double>>> none(4);
  replace_by_noise<double>({1, 7, {1, 0, Normalization::none, 2}}, again, none);
  CHECK(again[0] == gradient[0]);
  replace_by_noise<double>({1, 8, {1, 0, Normalization::none, 2}}, other, none);
  CHECK_FALSE(other[0] == gradient[0]);
}

TEST_CASE("nulls have the same bits for any threads and when resumed, and leave alone what they should", "[train]") {
  const TemporaryDirectory dir;
  const Settings settings{"device.model=soft_bounds", "device.pulses=200", "train.null=all", "train.steps=12",
                          "estimator=aep_transposed"};
  const auto with = [&](Settings more) {
    more.insert(more.end(), settings.begin(), settings.end());
    return tiny_config(more);
  };
  const TrainSummary whole = train(with({}), dir / "whole.h5");
  train(with({"threads=3"}), dir / "threads.h5");
  train(with({}), dir / "stopped.h5", stop_after(5));
  resume(dir / "stopped.h5", nullptr);
  const H5Reader one(dir / "whole.h5"), threads(dir / "threads.h5"), resumed(dir / "stopped.h5");
  for (const NullKind& null : null_kinds()) {
    CAPTURE(null.name);
    for (const char* name : {"/train/loss", "/train/validation_loss", "/sample_losses/test/loss"}) {
      const std::string path = null.lane() + name;
      CHECK(one.reals<double>(path) == threads.reals<double>(path));
      CHECK(one.reals<double>(path) == resumed.reals<double>(path));
    }
  }
  const auto moved = [&](const std::string& path) {
    const auto shape = one.shape(path);
    return one.matrix<float>(path, shape) !=
           one.matrix<float>("null/frozen_devices" + path.substr(path.find("/par")), shape);
  };
  CHECK_FALSE(moved("null/readout/parameters/Wm"));  // both as they were programmed
  CHECK(moved("null/readout/parameters/Wh"));
  CHECK(moved("null/noise_gradient/parameters/Wm"));
  const auto json = json_of(whole)["null"];
  CHECK(json["noise_gradient"]["validation_loss"].is_number());
  CHECK(json["constant"]["won_low"].is_number());
  CHECK(json["not_run"].empty());
  CHECK(json["devices_learnt"].is_boolean());
}

TEST_CASE("a network without a read-out has no null of the read-out alone", "[train]") {
  const auto refused = [](const char* network, const std::vector<std::string>& more) {
    std::vector<std::string> settings{"device.preset=ecram", "train.null=readout"};
    settings.insert(settings.end(), more.begin(), more.end());
    const Config config = parse_program_config("t", fmt::format("network.kind = '{}'\n", network), settings);
    CHECK_THROWS_WITH(run_parts(config, Work::learns), Contains("train.null = readout") && Contains("has no read-out"));
  };
  refused("resistive", {"task.kind=classification"});
  refused("hopfield", {"task.kind=classification"});  // its error is squared, at the last layer
}

TEST_CASE("devices that learn are said to learn, and shuffled labels teach them nothing", "[train]") {
  const TemporaryDirectory dir;
  CHECK(said_to_learn(1, [&](unsigned seed) { return samples_config(dir, 2, seed, {"train.steps=300"}); }) == 1);
  CHECK(said_to_learn(3, [&](unsigned seed) { return samples_config(dir, 0, seed); }) == 0);
}

TEST_CASE("40 runs on shuffled labels and 40 on shuffled text: at most 5 % are said to learn", "[train][slow]") {
  const TemporaryDirectory dir;
  CHECK(said_to_learn(40, [&](unsigned seed) { return samples_config(dir, 0, seed); }) <= 2);
  CHECK(said_to_learn(40, [&](unsigned seed) { return letters_config(dir, seed); }) <= 2);
}
