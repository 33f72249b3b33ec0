// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sim/io/h5_reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/config_table.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Settings = std::vector<std::string>;

/// A model that trains a step in about a millisecond.
Config tiny_config(const Settings& settings) {
  return parse_program_config("tiny.toml",
                              "threads = 1\n[model]\nchannels = 8\ntokens = 6\nmemories = 12\nheads = 2\n"
                              "[train]\nsteps = 12\nbatch = 3\nwarmup = 5\nevaluate_every = 0\nevaluation_batches = 2\n"
                              "test_batches = 3\n[relaxation]\nfree_steps = 8\nnudged_steps = 8\n",
                              settings);
}

TrainObserver stop_after(std::uint64_t steps) {
  return [steps](const TrainProgress& p) { return p.done < steps; };
}

}  // namespace

TEST_CASE("the test part is read once, when a run has ended, and by no run that a choice is made from") {
  const TemporaryDirectory dir;
  const Config config = tiny_config({"train.beside=bptt"});
  const TrainSummary part = train(config, dir / "part.h5", stop_after(5));
  CHECK(std::isnan(part.of("test_loss")));
  CHECK_FALSE(H5Reader(dir / "part.h5").has("train/test_loss"));
  const TrainSummary whole = resume(dir / "part.h5", nullptr);
  CHECK(std::isfinite(whole.of("test_loss")));
  const TrainSummary again = resume(dir / "part.h5", nullptr);  // has ended: nothing is read twice
  CHECK(again.of("test_loss") == whole.of("test_loss"));
  const H5Reader file(dir / "part.h5");
  CHECK(file.reals<double>("train/test_loss") == std::vector<double>{whole.of("test_loss")});
  CHECK(file.reals<double>("train/test_step") == std::vector<double>{12});
  CHECK(file.reals<double>("beside/train/test_loss").front() == whole.of("beside/test_loss"));
  const TrainSummary choosing = train(config, std::nullopt, {}, FinalTest::leave);
  CHECK(std::isnan(choosing.of("test_loss")));
  CHECK(choosing.of("validation_loss") == whole.of("validation_loss"));
  CHECK(std::isnan(train(tiny_config({"train.steps=2", "data.test_fraction=0"}), std::nullopt).of("test_loss")));
}
