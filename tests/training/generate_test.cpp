// SPDX-License-Identifier: Apache-2.0
// Text by a trained network: the draws, the window, and that what stands behind a short text does not matter.
#include "training/train/generate.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "sim/base/errors.hpp"
#include "sim/io/h5_reader.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/training/network_kinds.hpp"
#include "training/config/run_parts.hpp"
#include "training/train/equilibrium_run.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

namespace {

/// A run of a few steps of a kind that takes symbols, settled in a few steps.
void run_of(const std::string& kind, const std::filesystem::path& path, std::vector<std::string> settings = {}) {
  settings.insert(settings.begin(), {"relaxation.free_steps=30", "relaxation.nudged_steps=10"});
  train(small(kind, settings), path);
}

}  // namespace

TEST_CASE("generate: the same seed writes the same text, other seeds other ones, 0 degrees the most probable",
          "[generate]") {
  const TemporaryDirectory dir;
  for (const char* kind : {"block", "stack", "transformer"}) {
    CAPTURE(kind);
    const auto path = dir / (std::string(kind) + ".h5");
    run_of(kind, path);
    GenerateOptions options{.prompt = "int", .tokens = 40};
    const Generated one = generate(path, options), again = generate(path, options);
    CHECK(one.text == again.text);
    CHECK(one.negative_log_likelihood == again.negative_log_likelihood);
    CHECK(one.negative_log_likelihood > 0);
    options.seed = 2;
    CHECK(generate(path, options).text != one.text);  // 40 draws of about 90 characters, hardly trained
    options.temperature = 0;
    const Generated cold = generate(path, options);
    options.seed = 3;
    CHECK(cold.text == generate(path, options).text);
    CHECK(cold.negative_log_likelihood < one.negative_log_likelihood);  // by definition below a draw's, on average
    // Said one after the other, as they come; stopped when nobody listens.
    std::string heard;
    const Generated stopped = generate(path, options, [&](const std::string& character) {
      heard += character;
      return heard.size() < 3;
    });
    CHECK(heard == stopped.text);
    CHECK(cold.text.rfind(heard, 0) == 0);
    // Beyond the window only its last characters count.
    options.tokens = 1;
    options.prompt = "int main";
    const Generated whole = generate(path, options);
    options.prompt = "main";
    CHECK(whole.text == generate(path, options).text);
  }
}

TEST_CASE("generate: what stands behind a short text does not matter", "[generate]") {
  for (const char* kind : {"block", "stack", "transformer"}) {
    CAPTURE(kind);
    const Config config = small(kind);
    const RunParts parts = run_parts(config);
    EquilibriumRun<double> trainee(config, parts.plan, "", Weights::configured);
    Batch batch;
    batch.sequences = 1;
    batch.tokens = parts.plan->rows();
    batch.targets = {Batch::kIgnored, 0, Batch::kIgnored, Batch::kIgnored};
    batch.indices = {3, 5, 1, 1};
    const Matrix<double> first = trainee.outputs(batch, 0).front().row(1);
    batch.indices = {3, 5, 7, 2};
    CHECK(first == Matrix<double>(trainee.outputs(batch, 0).front().row(1)));
    batch.indices = {3, 6, 7, 2};
    CHECK(first != Matrix<double>(trainee.outputs(batch, 0).front().row(1)));
  }
}

TEST_CASE("generate: devices write with the noise of their reads", "[generate]") {
  const TemporaryDirectory dir;
  const auto path = dir / "noisy.h5";
  run_of("block", path, {"device.model=soft_bounds", "device.read_noise=0.05", "beta=0.1"});
  GenerateOptions options{.prompt = "int", .tokens = 5, .temperature = 0};
  const double one = generate(path, options).negative_log_likelihood;
  CHECK(one == generate(path, options).negative_log_likelihood);
  options.seed = 2;
  CHECK(one != generate(path, options).negative_log_likelihood);
}

TEST_CASE("generate: files and prompts that do not fit are refused", "[generate]") {
  const TemporaryDirectory dir;
  const auto path = dir / "run.h5";
  run_of("block", path);
  CHECK_THROWS_WITH(generate(path, {.prompt = "\xCE\xA9"}), Contains("is not among the"));
  CHECK_THROWS_WITH(generate(path, {.tokens = 0}), Contains("tokens = 0 (must be in [1, 1048575])"));
  CHECK_THROWS_WITH(generate(path, {.temperature = -1}), Contains("temperature = -1"));
  CHECK_THROWS_WITH(generate(path, {.seed = 4096}), Contains("seed = 4096 (must be at most 4095)"));
  run_of("hopfield", dir / "digits.h5");
  CHECK_THROWS_WITH(generate(dir / "digits.h5", {}), Contains("its task.kind = classification is not a text"));
}
