// SPDX-License-Identifier: Apache-2.0
// One list of named numbers makes the summary of a run, its JSON and the columns of studies.
#include "training/train/run_values.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/training/tiny_run.hpp"
#include "training/sweep/point_cost.hpp"
#include "training/sweep/sweep_points.hpp"
#include "training/train/train_json.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("every number of a run has a name and a place of its own, and as a column unit and text", "[train]") {
  const Config config =
      tiny_config({"train.steps=2", "device.model=soft_bounds", "device.pulses=200", "train.beside=bptt"});
  const TrainSummary run = train(config, std::nullopt);
  REQUIRE(run.null.has_value());
  const nlohmann::json json = json_of(run);
  std::set<std::string> names, places;
  for (const RunValue& one : run.values.all()) {
    CAPTURE(one.name);
    CHECK(names.insert(one.name).second);
    CHECK((one.column == Column::none || !(one.unit.empty() || one.description.empty())));
    if (one.json.empty()) continue;
    CHECK(places.insert(one.json).second);
    const nlohmann::json& shown = json.at(nlohmann::json::json_pointer("/" + one.json));
    CHECK(shown.is_number_integer() == one.whole);
    if (one.value) CHECK((shown.get<double>() == *one.value || std::isnan(*one.value)));
    if (!one.value) CHECK(std::isnan(shown.get<double>()));
  }
}

TEST_CASE("a number that was not measured is absent, and a name that no number has is a bug", "[train]") {
  const TrainSummary run = train(tiny_config({"train.steps=2"}), std::nullopt);
  CHECK_FALSE(run.values.find("cosine").has_value());
  CHECK(std::isnan(run.of("cosine")));
  CHECK_THROWS_AS(run.of("beside/validation_loss"), ContractViolation);  // there is no such lane
  CHECK_THROWS_WITH(run.of("validation_los"), Catch::Contains("validation_los"));
}

TEST_CASE("a study has the columns that its runs will fill", "[train][sweep]") {
  const Config config = tiny_config({"train.steps=2"});
  const RunValues before = run_values(config, nullptr);
  std::vector<Measure> columns = sweep_metrics("train", config);
  for (Measure& one : test_metrics(config)) columns.push_back(std::move(one));
  // Digital weights have no circuit to cost.
  const auto cost = [](const Measure& one) {
    const auto& all = cost_measures();
    return std::any_of(all.begin(), all.end(), [&](const Measure& known) { return known.name == one.name; });
  };
  for (const Measure& one : columns) {
    if (!cost(one)) CHECK_NOTHROW(before.of(one.name));
  }
  const TrainSummary run = train(config, std::nullopt);
  const std::vector<double> results = train_results(run, columns);
  REQUIRE(results.size() == columns.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    CAPTURE(columns[i].name);
    if (cost(columns[i])) {
      CHECK(std::isnan(results[i]));
      continue;
    }
    CHECK((results[i] == run.of(columns[i].name) || std::isnan(run.of(columns[i].name))));
  }
  CHECK(std::isnan(train_results(run, {{"validation_rmse", "1", ""}})[0]));  // of another task
}
