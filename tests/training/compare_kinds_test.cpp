// SPDX-License-Identifier: Apache-2.0
// Comparisons of tasks that are not scored by an accuracy, and of networks that do not settle.
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "sim/base/errors.hpp"
#include "sim/base/open_list.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/compare.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kProtocol =
    "tuning_seeds = [1]\ntest_seeds = [2, 3]\n[compare.grid]\n'train.learning_rate' = [1e-3, 1e-2]\n";

/// Its rows against trainings of the same configs: losses and scores of every test run, and the verdict they give.
void check_rmse(const std::string& study, const std::vector<std::string>& second) {
  const TemporaryDirectory folder;
  const std::string text = study + kProtocol;
  const Comparison c = run_compare({"c.toml", text, {}}, {folder / "c.h5", false});
  REQUIRE(c.entrants.size() == 2);
  CHECK(c.metric == "rmse");
  CHECK(c.test.count_ok() == 4);
  std::vector<double> scores, losses;
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(c.entrants[i / 2].choice);
    std::vector<std::string> settings = i < 2 ? std::vector<std::string>() : second;
    const std::string seed = std::to_string(c.test.points[i].seed);
    for (const std::string& one : c.entrants[i / 2].choice->combination) settings.push_back(one);
    settings.push_back("seed=" + seed);
    if (study.find("forecasting") == std::string::npos) settings.push_back("data.split_seed=" + seed);  // of samples
    const TrainSummary alone = train(parse_program_config("c.toml", text, settings), std::nullopt);
    losses.push_back(c.test.points[i].metrics[place_named(c.test.metrics, "test_loss")]);
    scores.push_back(c.test.points[i].metrics[place_named(c.test.metrics, "test_rmse")]);
    CHECK(losses[i] == alone.of("test_loss"));
    CHECK(scores[i] == alone.of("test_rmse"));
    CHECK(std::isfinite(scores[i]));
  }
  for (std::size_t e = 0; e < 2; ++e) {
    const ComparedEntrant& one = c.entrants[e];
    CHECK(one.runs == 2);
    CHECK(one.test_score.mean == Approx((scores[2 * e] + scores[2 * e + 1]) / 2));
    CHECK(one.score_difference.mean == Approx((scores[2 * e] - scores[0] + scores[2 * e + 1] - scores[1]) / 2));
    CHECK(one.difference.mean == Approx((losses[2 * e] - losses[0] + losses[2 * e + 1] - losses[1]) / 2));
    CHECK(one.test_samples == 0);
    CHECK(std::isnan(one.one_run.low));  // of an accuracy alone
  }
  const H5Reader file(folder / "c.h5");
  CHECK(file.has("entrants/test_rmse_mean"));
  CHECK_FALSE(file.has("entrants/test_samples"));
}

}  // namespace

TEST_CASE("a comparison of a regression is judged by the error of its test runs") {
  check_rmse(
      "estimator = 'ep'\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'regression'\n[hopfield]\nhidden = "
      "[2]\n"
      "[data]\nvalidation_fraction = 0.9\n[train]\nsteps = 2\nbatch = 2\nevaluate_every = 0\n"
      "[compare]\nentrants = ['ep', 'bptt: estimator=bptt']\n",
      {"estimator=bptt"});
}

TEST_CASE("a comparison of forecasts is judged by the error of its test runs") {
  check_rmse(
      "threads = 1\n[network]\nkind = 'sequence_model'\n[task]\nkind = 'forecasting'\n[model]\nchannels = 8\nheads = "
      "2\n"
      "tokens = 6\n[series]\npatch = 2\nhorizon = 2\nlength = 400\n[train]\nsteps = 4\nbatch = 5\n"
      "evaluation_batches = 2\ntest_batches = 3\nevaluate_every = 0\n[data]\nvalidation_fraction = 0.1\n"
      "test_fraction = 0.2\n[compare]\nentrants = ['mha: sequence.mixer=mha', 'gla: sequence.mixer=gla']\n",
      {"sequence.mixer=gla"});
}

TEST_CASE("a comparison of rules on a netlist is judged by the error of its test runs") {
  const TemporaryDirectory folder;
  const auto circuit = folder / "divider.cir", table = folder / "table.csv";
  std::ofstream(circuit) << "divider\nVa a 0 0\nVb b 0 0\nR1 a x 1k\nR2 b x 2k\nR3 x 0 3k\n";
  std::ofstream rows(table);
  rows << "a,b,y\n";
  for (int i = 0; i < 20; ++i) rows << i * 0.05 << ',' << 1 - i * 0.05 << ',' << 0.2 + 0.01 * i << '\n';
  rows.close();
  check_rmse(fmt::format("estimator = 'adjoint'\nthreads = 1\nprecision = 'double'\nbeta = 0.1\n[network]\n"
                         "kind = 'netlist'\n[netlist]\nfile = '{}'\ninputs = ['va', 'vb']\noutputs = ['x']\n"
                         "learn = ['r*']\n[task]\nkind = 'regression'\n[data]\nfile = '{}'\nlabels = 'y'\n"
                         "scaling = 'none'\nvalidation_fraction = 0.2\ntest_fraction = 0.2\n"
                         "[relaxation]\nsolver = 'direct'\n[train]\nsteps = 3\nbatch = 4\nevaluate_every = 0\n"
                         "[compare]\nentrants = ['adjoint', 'coupled_learning: estimator=coupled_learning']\n",
                         circuit.string(), table.string()),
             {"estimator=coupled_learning"});
}

TEST_CASE("methods of a comparison may take equal energies, of more steps where each is cheaper") {
  const TemporaryDirectory folder;
  const std::string text =
      "estimator = 'ep'\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\n[hopfield]\n"
      "hidden = [8]\n[device]\npreset = 'ecram'\n[train]\nsteps = 40\nbatch = 4\nevaluate_every = 0\nnull = 'off'\n"
      "[compare]\nequal = 'energy'\nentrants = ['short: relaxation.nudged_steps=10', 'long: "
      "relaxation.nudged_steps=80']\n" +
      std::string(kProtocol);
  const Comparison c = run_compare({"c.toml", text, {}}, {folder / "c.h5", false});
  CHECK(c.test.count_ok() == 4);
  const std::size_t step_energy = place_named(c.test.metrics, "step_energy");
  std::vector<double> steps, energies;
  for (const ComparedEntrant& one : c.entrants) {
    const std::string& last = one.entrant.settings.back();
    REQUIRE(last.starts_with("train.steps="));
    steps.push_back(std::stod(last.substr(12)));
    CHECK(c.holds.find(fmt::format("{} {} steps of", one.entrant.name, steps.back())) != std::string::npos);
  }
  CHECK(steps[0] == 40);
  CHECK(steps[1] < 20);  // amplifiers that hold the nudged phases for eight times as long take most of the energy
  for (std::size_t i = 0; i < 4; ++i) energies.push_back(steps[i / 2] * c.test.points[i].metrics[step_energy]);
  // A step of the dearer one is 1/steps of the whole, half of which rounding may take; arrays differ by their weights.
  for (const double energy : energies) CHECK(energy == Approx(energies[0]).epsilon(0.5 / steps[1] + 0.02));
  // The same steps whoever asks, so that the file is taken up again.
  CHECK(run_compare({"c.toml", text, {}}, {folder / "c.h5", true}).test.count_ok() == 4);
  const auto refused = [&](const std::string& setting) {
    try {
      run_compare({"c.toml", text, {setting}}, {folder / "x.h5", false});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("compare.entrants=['a: train.steps=3', 'b: beta=0.1']").find("train.steps of a") != std::string::npos);
  CHECK(refused("compare.grid.train.steps=[3, 4]").find("compare.grid.train.steps") != std::string::npos);
  CHECK(refused("device.preset=").find("the energy of short is not known") != std::string::npos);
}
