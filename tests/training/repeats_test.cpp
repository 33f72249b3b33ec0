// SPDX-License-Identifier: Apache-2.0
// The same run twice is no second, independent one: lists of what is run refuse it, in whatever spelling.

#include "sim/base/errors.hpp"
#include "sim/config/param_value.hpp"
#include "tests/support/catch.hpp"
#include "training/config/combinations.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;
using Catch::Equals;

namespace {

std::string error_of(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    parse_program_config("a.toml", text, settings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the first repeat of a list, with the place it repeats") {
  CHECK_FALSE(first_repeat(std::vector<int>{}));
  CHECK_FALSE(first_repeat(std::vector<int>{3, 1, 2}));
  const auto repeat = first_repeat(std::vector<double>{0.1, 0.2, 0.0, 1e-1, -0.0});
  REQUIRE(repeat);
  CHECK(repeat->first == 0);
  CHECK(repeat->again == 3);
}

TEST_CASE("seeds, tasks, mixers and estimators are listed once, and the repeat is named with its place") {
  CHECK_THAT(
      error_of("[compare]\ntest_seeds = [11, 11, 11, 12]\n"),
      Equals(
          "a.toml:2:19: compare.test_seeds[1] = 11 (is [0] again. List each once: a repeated run is not independent)"));
  CHECK_THAT(error_of("[compare]\ntuning_seeds = [1, 2, 1]\n"), Contains("a.toml:2:23: compare.tuning_seeds[2] = 1"));
  CHECK_THAT(error_of("", {"sweep.seeds=[1, 1]"}), Contains("--set: sweep.seeds[1] = 1 (is [0] again"));
  CHECK_THAT(error_of("[gradcheck]\nestimators = ['ep', 'aep', 'ep']\n"), Contains("gradcheck.estimators[2]"));
  CHECK(error_of("[data]\nshape = [8, 8]\n").find("again") == std::string::npos);  // no list of runs
}

TEST_CASE("an axis has each value once, in whatever spelling, and is named with its own place") {
  const std::string devices = "[device]\nmodel = 'soft_bounds'\n";
  CHECK_THAT(error_of("[sweep.grid]\nbeta = [0.1, 0.2, 1e-1]\n'model.heads' = [1, 2]\n"),
             Contains("a.toml:2:1: sweep.grid.beta = [0.1, 0.2, 0.1] ([2] is [0] again"));
  CHECK_THAT(error_of(devices + "[sweep.grid]\n'device.g_max' = ['30 uS', '30000 nS']\n"),
             Contains("a.toml:4:1: sweep.grid.device.g_max") && Contains("[1] is [0] again"));
  CHECK_THAT(error_of(devices + "[sweep.grid]\n'device.read_noise' = [0.01, '1 %']\n"), Contains("[1] is [0] again"));
  CHECK_THAT(error_of("[compare.grid]\n'train.learning_rate' = [1e-3, 0.001]\n"),
             Contains("a.toml:2:1: compare.grid.train.learning_rate"));
  const std::string both = error_of("[sweep.grid]\nbeta = [1, 1]\n[compare.grid]\nbeta = [2, 2.0]\n");
  CHECK_THAT(both, Contains("a.toml:2:1: sweep.grid.beta") && Contains("a.toml:4:1: compare.grid.beta"));
  CHECK_THAT(error_of("[sweep.grid]\nbeta = [1, 2]\n", {"sweep.grid.beta=[1, 1.0]"}),
             Contains("--set: sweep.grid.beta"));
}

TEST_CASE("zipped axes may repeat a value, but no place") {
  CHECK(error_of("[sweep]\nmode = 'zip'\n[sweep.grid]\nbeta = [0.1, 0.1]\n'model.heads' = [1, 2]\n").empty());
  CHECK_THAT(error_of("[sweep]\nmode = 'zip'\n[sweep.grid]\nbeta = [0.1, 0.2, 0.1]\n'model.heads' = [1, 2, 1]\n"),
             Contains("a.toml:4:1: sweep.grid.beta") && Contains("the position of [2] is [0] again"));
}

TEST_CASE("entrants have a name and settings of their own, which every check of a config knows") {
  CHECK_THAT(error_of("[compare]\nentrants = ['bptt', 'ep', 'bptt']\n"),
             Contains("a.toml:2:1: compare.entrants: \"bptt\" (the name stands twice)"));
  CHECK_THAT(error_of("[compare]\nentrants = ['bptt', 'again: estimator=bptt']\n"),
             Contains("has the same settings as \"bptt\""));
  CHECK_THAT(error_of("[compare]\nentrants = ['a: beta=0.1; estimator=ep', 'b: estimator = ep; beta = 1e-1']\n"),
             Contains("has the same settings as \"a\""));
  CHECK_THAT(error_of("[compare]\nentrants = ['bptt']\n"), Contains("a.toml:2:1: compare.entrants needs two"));
}

TEST_CASE("a place that is drawn again is one place") {
  const Config config = parse_program_config("a.toml",
                                             "[sweep]\nmode = 'random'\nsamples = 40\n[sweep.grid]\n'model.heads' = "
                                             "[1, 2]\n'train.optimizer' = ['adam', 'sgd']\n");
  const auto places = mode_combinations(config, config.grid("sweep.grid"));
  CHECK(places.size() == 4);  // that 40 draws leave one of four out: 4 (3/4)^40 = 4e-5, and the seed is fixed
  CHECK_FALSE(first_repeat(places));
}
