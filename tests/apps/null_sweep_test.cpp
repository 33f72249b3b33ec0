// SPDX-License-Identifier: Apache-2.0
// What a report says first of real sweeps: of values that change nothing, and of one that does.
#include <fmt/format.h>

#include "apps/report/sections.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
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

/// Title of the report on a sweep of the digits on devices, with the seeds from `first` on.
std::string title_of(const std::string& grid, int first, int seeds, int steps) {
  const TemporaryDirectory folder;
  std::string list;
  for (int s = 0; s < seeds; ++s) list += fmt::format("{}{}", s > 0 ? ", " : "", first + s);
  run_sweep(
      {"digits.toml", kDigits + grid, {fmt::format("sweep.seeds=[{}]", list), fmt::format("train.steps={}", steps)}},
      {folder / "sweep.h5", false});
  return report::sweep_section({report::load_run_file(folder / "sweep.h5")}).opening.title;
}

}  // namespace

TEST_CASE("the title of a sweep of values that change nothing rarely names one", "[slow]") {
  const std::string nothing =
      "'circuit.temperature' = ['300 K', '299 K', '301 K']\n"
      "'circuit.hold_capacitance' = ['1 pF', '1.001 pF', '0.999 pF']\n"
      "'crossbar.forward_noise' = ['5 nV', '4.99 nV', '5.01 nV']\n"
      "'crossbar.transposed_gain_spread' = [0.01, 0.01001]\n";
  // The title looks at validation accuracy and validation loss. At most 5 % of the sweeps: of 24 more than 5 with
  // probability 1e-3.
  int named = 0;
  for (int sweep = 0; sweep < 24; ++sweep) {
    const std::string title = title_of(nothing, 1 + 4 * sweep, 4, 30);
    INFO(title);
    CHECK(title.find("valid") != std::string::npos);
    named += title.starts_with("No value changes") ? 0 : 1;
  }
  CHECK(named <= 5);
  // Longer trainings at a rate that learns little, among as many values that change nothing.
  const std::string title = title_of(nothing + "'train.learning_rate' = [0.05, 0.002]\n", 1, 8, 100);
  CHECK(title.starts_with("train.learning_rate = 0.002 costs"));
}
