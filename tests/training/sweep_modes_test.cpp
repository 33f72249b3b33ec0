// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

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
    "[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n[train]\nsteps = 1\nbatch = 1\n"
    "evaluation_batches = 1\n[device]\nmodel = 'soft_bounds'\n";

ConfigSource small(const std::string& sweep, const std::vector<std::string>& settings = {}) {
  return {"small.toml", kSmall + std::string("[sweep]\n") + sweep, settings};
}

SweepGrid grid_of(const std::string& sweep, const std::vector<std::string>& settings = {}) {
  return make_sweep_grid(small(sweep, settings));
}

const char* const kRanges =
    "mode = 'sobol'\nsamples = 256\nlogarithmic = ['train.learning_rate', 'model.memories']\n[sweep.grid]\n"
    "'train.learning_rate' = [1e-4, 1e-2]\n'device.read_noise' = [0, '2 %']\n'train.batch' = [1, 5]\n"
    "'train.optimizer' = ['adam', 'sgd']\n'model.memories' = [4, 64]\n'model.heads' = [1, 2, 4]\n";

/// Share of the points whose key k lies below `middle`.
double share_below(const SweepGrid& grid, std::size_t k, double middle) {
  double below = 0;
  for (const SweepPoint& point : grid.sweep.points) below += point.numbers[k] < middle ? 1 : 0;
  return below / static_cast<double>(grid.sweep.points.size());
}

}  // namespace

TEST_CASE("zipped axes walk in step") {
  const SweepGrid grid =
      grid_of("mode = 'zip'\nseeds = [1, 2]\n[sweep.grid]\n'model.channels' = [8, 16]\n'train.batch' = [1, 3]\n");
  REQUIRE(grid.sweep.points.size() == 4);
  CHECK(grid.sweep.points[1].values == std::vector<std::string>{"8", "1"});
  CHECK(grid.sweep.points[2].values == std::vector<std::string>{"16", "3"});
  CHECK(grid.config(3).integer("model.channels") == 16);
  CHECK(grid.config(3).integer("seed") == 2);
  CHECK_THROWS_WITH(grid_of("mode = 'zip'\n[sweep.grid]\n'model.channels' = [8, 16]\n'train.batch' = [1]\n"),
                    Contains("sweep.grid.train.batch has 1") || Contains("sweep.grid.model.channels has 1"));
}

TEST_CASE("sobol fills ranges evenly, in the logarithm where asked, and keeps its samples when there are more") {
  const SweepGrid grid = grid_of(kRanges);
  REQUIRE(grid.sweep.points.size() == 256);
  const auto& keys = grid.sweep.keys;
  const auto k = [&keys](const std::string& key) {
    return static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  };
  std::set<double> rates;
  for (const SweepPoint& point : grid.sweep.points) {
    const double rate = point.numbers[k("train.learning_rate")];
    rates.insert(rate);
    CHECK((rate >= 1e-4 && rate <= 1e-2));
    const double batch = point.numbers[k("train.batch")];
    CHECK((batch >= 1 && batch <= 5 && batch == std::round(batch)));
  }
  CHECK(rates.size() == 256);
  // Any 256 successive points of the sequence have 128 ± 1 in each half of an axis (it is a (t, s)-sequence; Boost leaves
  // out its first point, 0). A random draw has 128 ± 8.
  CHECK(std::abs(share_below(grid, k("train.learning_rate"), 1e-3) - 0.5) <= 1.01 / 256);
  CHECK(std::abs(share_below(grid, k("device.read_noise"), 0.01) - 0.5) <= 1.01 / 256);
  CHECK(std::abs(share_below(grid, k("model.memories"), 15.99) - 0.5) <= 0.06);  // rounded: log range 4 to 64
  const SweepGrid more = grid_of(kRanges, {"sweep.samples=300"});
  for (std::size_t i = 0; i < 256; ++i) CHECK(more.sweep.points[i].values == grid.sweep.points[i].values);
}

TEST_CASE("random draws depend on the seed alone and have the moments of their range") {
  const std::string mode = "mode = 'random'\nsamples = 400\n[sweep.grid]\n'device.read_noise' = [0, '2 %']\n";
  const SweepGrid grid = grid_of(mode), again = grid_of(mode), other = grid_of(mode, {"seed=5"});
  CHECK(grid.sweep.points[7].values == again.sweep.points[7].values);
  CHECK(grid.sweep.points[7].values != other.sweep.points[7].values);
  double mean = 0;
  for (const SweepPoint& point : grid.sweep.points) mean += point.numbers[0] / 400;
  // Of a uniform range of width w: sd of the mean w/sqrt(12 n) = 0.02/sqrt(4800) = 2.9e-4; 4.5 sd fails once in 1.5e5 seeds.
  CHECK(std::abs(mean - 0.01) < 4.5 * 2.9e-4);
}

TEST_CASE("what is wrong with a range is said") {
  CHECK_THROWS_WITH(grid_of("mode = 'random'\n[sweep.grid]\n'beta' = [0.2, 0.1]\n"),
                    Contains("first end below the second"));
  CHECK_THROWS_WITH(grid_of("mode = 'sobol'\nlogarithmic = ['beta']\n[sweep.grid]\n'beta' = [0, 0.1]\n"),
                    Contains("must start above 0"));
  CHECK_THROWS_WITH(grid_of("mode = 'sobol'\nlogarithmic = ['bet']\n[sweep.grid]\n'beta' = [0.01, 0.1]\n"),
                    Contains("bet is not an axis"));
  CHECK_THROWS_WITH(grid_of("logarithmic = ['beta']\n[sweep.grid]\n'beta' = [0.01, 0.1]\n"), Contains("has no effect"));
  CHECK_THROWS_WITH(grid_of("mode = 'sobol'\nlogarithmic = ['train.optimizer']\n[sweep.grid]\n"
                            "'train.optimizer' = ['adam', 'sgd']\n"),
                    Contains("must be a range"));
}

TEST_CASE("combinations that break a rule are recorded and skipped, if that is wanted and some are left") {
  const TemporaryDirectory folder;
  const std::string axes = "[sweep.grid]\n'model.heads' = [2, 3]\n'train.optimizer' = ['adam', 'sgd']\n";
  CHECK_THROWS_WITH(grid_of(axes), Contains("must divide model.channels = 8"));
  const Sweep sweep = run_sweep(small("invalid = 'skip'\n" + axes), {folder / "s.h5"});
  REQUIRE(sweep.points.size() == 4);
  CHECK(sweep.count_ok() == 2);
  CHECK(sweep.points[3].invalid());
  CHECK(sweep.points[3].values == std::vector<std::string>{"3", "sgd"});
  const auto cells = summarise_sweep(sweep);
  CHECK(cells[0].invalid.empty());
  CHECK_THAT(cells[2].invalid, Contains("must divide model.channels = 8"));
  CHECK(cells[2].failed == 0);
  const H5Reader file(folder / "s.h5");
  CHECK_THAT(file.texts("points/status")[2], Contains("invalid: ") && Contains("must divide"));
  CHECK(std::isnan(file.reals<double>("points/final_loss")[2]));
  CHECK_THROWS_WITH(grid_of("invalid = 'skip'\n[sweep.grid]\n'model.heads' = [3, 5]\n"), Contains("model.heads=5"));
}
