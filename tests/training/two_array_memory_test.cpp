// SPDX-License-Identifier: Apache-2.0
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;

namespace {

Config small(std::vector<std::string> settings) {
  const char* const text =
      "precision = 'double'\nhardware.level = 'ideal'\n[model]\nchannels = 16\ntokens = 10\nmemories = 32\nheads = "
      "2\nmemory_arrays = 2\n"
      "[relaxation]\nfree_steps = 80\nnudged_steps = 80\n[train]\nbatch = 3\nsteps = 3\nevaluation_batches = 1\n"
      "[device]\nmodel = 'soft_bounds'\nprogramming_error = '2 %'\nread_noise = 0\n"
      "[gradcheck]\nestimators = ['aep_anchored', 'aep_transposed']\nfinite_difference_entries = 6\n";
  return parse_program_config("small.toml", text, settings);
}

double cosine(const GradcheckReport& report, const std::string& estimator) {
  const GradcheckRow* row = report.find(estimator, "all");
  REQUIRE(row != nullptr);
  return row->agreement.cosine;
}

}  // namespace

TEST_CASE("a memory on two arrays needs a correction of full scope") {
  const GradcheckReport full = gradcheck(small({"correction.scope=full"}));
  // 80 steps of a stable block leave the rounding of β = 1e-5 only.
  CHECK(cosine(full, "aep_anchored") > 1 - 1e-6);
  CHECK(cosine(full, "aep_transposed") > 1 - 1e-6);
  CHECK(full.find("finite_difference", "Wr")->agreement.cosine > 1 - 1e-6);
  const GradcheckReport attention = gradcheck(small({"correction.scope=attention"}));
  // Programming errors of 2 % of the window on either array leave an antisymmetric part that nothing corrects.
  CHECK(cosine(attention, "aep_anchored") < 1 - 1e-4);
  CHECK(cosine(attention, "aep_transposed") < 1 - 1e-4);
}

TEST_CASE("a memory on two arrays trains, and impossible combinations are refused") {
  const TrainSummary summary = train(small({"correction.scope=full", "estimator=aep_transposed"}), std::nullopt, {});
  CHECK(summary.done == 3);
  CHECK(summary.of("nonfinite") == 0);
  CHECK_THROWS_WITH(small({"nudge.drive=difference"}), Catch::Contains("nudge.drive"));
  CHECK_THROWS_WITH(small({"model.memories=0"}), Catch::Contains("model.memory_arrays"));
}
