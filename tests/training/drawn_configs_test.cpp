// SPDX-License-Identifier: Apache-2.0
// Random legal keys over all sections: what the check of a config accepts runs, and what it refuses a run refuses alike.
//     NUDGE_DRAWN_CONFIGS="FIRST COUNT" nudge_tests_training '[drawn]'
// draws others than the fixed list; each failure is shown as a command line.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/drawn_configs.hpp"
#include "training/check/choices.hpp"
#include "training/config/config_table.hpp"
#include "training/config/run_parts.hpp"
#include "training/gradcheck/gradcheck.hpp"
#include "training/train/train_run.hpp"

using namespace nudge;

namespace {

/// A run of the sizes drawn takes 0.02 s in the mean, the longest about 2 s: 20 is for a loaded machine and sanitizers.
constexpr double kLongest_s = 20;

struct Seeds {
  std::uint64_t first = 1, count = 700;
};

Seeds asked_seeds() {
  Seeds seeds;
  if (const char* asked = std::getenv("NUDGE_DRAWN_CONFIGS")) std::istringstream(asked) >> seeds.first >> seeds.count;
  return seeds;
}

template <class Run>
std::optional<std::string> refusal(const Run& run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return std::nullopt;
}

/// Not a number that no status tells of; "" for none.
std::string silent_number(const TrainSummary& run) {
  if (!run.failure.empty()) return "";
  if (!std::isfinite(run.of("final_loss")) || !std::isfinite(run.of("validation_loss"))) return "loss";
  return std::isfinite(run.of("residual")) && std::isfinite(run.of("damping")) ? "" : "residual or damping";
}

std::string silent_number(const GradcheckReport& report) {
  const bool told = std::any_of(report.estimators.begin(), report.estimators.end(),
                                [](const EstimatorFacts& facts) { return facts.diverged > 0; });
  if (told || !report.finite() || !report.reference_converged()) return "";
  return std::isfinite(report.residual) && std::isfinite(report.loss) ? "" : "loss or residual";
}

/// What went wrong with a run whose config was accepted; "" for nothing. Outcomes that have a status are none.
std::string fault_of(const Config& config, bool trains) {
  const auto start = std::chrono::steady_clock::now();
  std::string fault;
  try {
    const std::string number =
        trains ? silent_number(train(config, std::nullopt, {}, FinalTest::evaluate)) : silent_number(gradcheck(config));
    if (!number.empty()) fault = "not finite and not reported: " + number;
  } catch (const NumericalFailure&) {  // exit 3, with what to do
  } catch (const UserError& error) {
    fault = std::string("refused by the run alone: ") + error.what();
  } catch (const std::exception& error) {
    fault = std::string("our bug: ") + error.what();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (fault.empty() && seconds > kLongest_s) fault = "took " + std::to_string(seconds) + " s";
  return fault;
}

}  // namespace

TEST_CASE("drawn configs that the check accepts run, and what it refuses a run refuses alike", "[drawn]") {
  const Seeds seeds = asked_seeds();
  std::uint64_t refused = 0, ran = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const std::vector<std::string> settings = test::drawn_settings(seed);
    INFO("seed " << seed << ": " << test::command_line(settings));
    std::optional<Config> config;
    std::optional<std::string> no = refusal([&] { config = parse_program_config("drawn.toml", "", settings); });
    if (config) {
      no = refusal([&] {
        expect_training_reads(*config);
        const RunParts parts = run_parts(*config);
        const Config placed = chosen_circuit(*config, parts);
        const NudgeChoice nudge = chosen_nudge(placed, parts);
        check_placed(placed, [&](const Config& c) { check_nudge(c, nudge); });
      });
      if (no) CHECK(refusal([&] { train(*config, std::nullopt, {}, FinalTest::evaluate); }) == no);
    }
    ++(no ? refused : ran);
    if (no) {
      CHECK_FALSE(no->empty());
      continue;
    }
    const bool trains = seed % 3 != 0;
    if (!trains && refusal([&] { expect_gradcheck(*config); }))
      continue;  // by rules of `gradcheck` alone: the file may train
    CHECK(fault_of(*config, trains) == "");
  }
  WARN(ran << " drawn configs ran, " << refused << " were refused");
  CHECK(ran >= seeds.count / 8);
}
