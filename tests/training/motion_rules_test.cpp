// SPDX-License-Identifier: Apache-2.0
// Steps that rounding takes back are refused, with the reason, before anything runs.

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "training/config/config_table.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

std::string error_of(const std::vector<std::string>& settings) {
  try {
    parse_program_config("a.toml", "", settings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a step below one rounding unit of the precision leaves the state where it is, and is refused") {
  CHECK_THAT(error_of({"relaxation.step=1e-30"}),
             Contains("--set: relaxation.step = 1e-30") && Contains("5.96e-8, one rounding unit of precision = float"));
  CHECK_THAT(error_of({"relaxation.step=1e-30", "precision=double"}),
             Contains("1.11e-16, one rounding unit of precision = double"));
  CHECK_THAT(error_of({"relaxation.step_fraction=1e-30"}), Contains("relaxation.step_fraction = 1e-30"));
  CHECK_THAT(error_of({"relaxation.step=1e-8"}), Contains("the state never moves"));
  CHECK(error_of({"relaxation.step=1e-8", "precision=double", "correction.delay=0"}).empty());
  CHECK(error_of({"relaxation.step=1e-7"}).empty());
  // Beside a step it has no effect, which is another error.
  CHECK_THAT(error_of({"relaxation.step=0.5", "damping.control=false", "relaxation.step_fraction=1e-30"}),
             Contains("relaxation.step_fraction") && !Contains("rounding unit"));
}

TEST_CASE("a learning rate that moves no weight is refused") {
  CHECK_THAT(error_of({"train.learning_rate=1e-300"}),
             Contains("train.learning_rate = 1e-300 (must be at least 5.96e-11") && Contains("no weight would move"));
  CHECK_THAT(error_of({"train.learning_rate=1e-300", "train.optimizer=sgd"}), Contains("must be at least 3.55e-15"));
  CHECK_THAT(error_of({"train.learning_rate=1e-300", "precision=double"}), Contains("must be at least 1.11e-19"));
  CHECK(error_of({"train.learning_rate=1e-9"}).empty());
  CHECK(error_of({"train.learning_rate=1e-12", "train.optimizer=sgd"}).empty());
}
