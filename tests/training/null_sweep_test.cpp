// SPDX-License-Identifier: Apache-2.0
// What a sweep says of values that change nothing, and of one that does, in real trainings.
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/compare/paired.hpp"
#include "training/sweep/sweep.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

const char* const kDigits =
    "estimator = 'ep'\nthreads = 1\n[network]\nkind = 'hopfield'\n[task]\nkind = 'classification'\nreferences = 'off'\n"
    "[data]\nvalidation_fraction = 0.2\n[hopfield]\nhidden = [12]\n"
    "[relaxation]\nschedule = 'sweep'\nstep = 1.0\nfree_steps = 8\nnudged_steps = 5\n[device]\npreset = 'ecram'\n"
    "[train]\nsteps = 30\nbatch = 8\noptimizer = 'sgd'\nlearning_rate = 0.05\nevaluate_every = 'end'\nnull = 'off'\n"
    "[sweep]\nmode = 'one_at_a_time'\n[sweep.grid]\n";

/// Effects on a result of trainings of the digits on devices, for the seeds from `first` on.
std::vector<KeyEffect> effects_of(const std::string& grid, int first, int seeds, const std::string& result, int steps) {
  const TemporaryDirectory folder;
  std::string list;
  for (int s = 0; s < seeds; ++s) list += fmt::format("{}{}", s > 0 ? ", " : "", first + s);
  const Sweep sweep = run_sweep(
      {"digits.toml", kDigits + grid, {fmt::format("sweep.seeds=[{}]", list), fmt::format("train.steps={}", steps)}},
      {folder / "sweep.h5", false});
  std::vector<std::vector<std::string>> values(sweep.keys.size());
  std::vector<double> of_seed, results;
  const auto metric =
      std::find_if(sweep.metrics.begin(), sweep.metrics.end(), [&](const Measure& one) { return one.name == result; });
  REQUIRE(metric != sweep.metrics.end());
  for (const SweepPoint& point : sweep.points) {
    REQUIRE(point.status == "ok");
    for (std::size_t k = 0; k < values.size(); ++k) values[k].push_back(point.values[k]);
    of_seed.push_back(static_cast<double>(point.seed));
    results.push_back(point.metrics[static_cast<std::size_t>(metric - sweep.metrics.begin())]);
  }
  return key_effects(sweep.keys, values, of_seed, results, result);
}

bool names_one(const std::vector<KeyEffect>& effects) {
  return std::any_of(effects.begin(), effects.end(), [](const KeyEffect& one) { return one.difference.certain(); });
}

}  // namespace

TEST_CASE("values that change nothing are rarely named, and a rate that does is", "[slow]") {
  const std::string nothing =
      "'circuit.temperature' = ['300 K', '299 K', '301 K']\n"
      "'circuit.hold_capacitance' = ['1 pF', '1.001 pF', '0.999 pF']\n"
      "'crossbar.forward_noise' = ['5 nV', '4.99 nV', '5.01 nV']\n"
      "'crossbar.transposed_gain_spread' = [0.01, 0.01001]\n";
  // At most 5 % of the sweeps: of 24 more than 5 with probability 1e-3.
  int named = 0;
  for (int sweep = 0; sweep < 24; ++sweep) {
    named += names_one(effects_of(nothing, 1 + 4 * sweep, 4, "validation_loss", 30)) ? 1 : 0;
  }
  CHECK(named <= 5);
  // Longer trainings at a rate that learns little, among as many values that change nothing.
  const auto effects =
      effects_of(nothing + "'train.learning_rate' = [0.05, 0.002]\n", 1, 8, "validation_accuracy", 100);
  CHECK(effects.front().key == "train.learning_rate");
  CHECK(effects.front().difference.certain());
}
