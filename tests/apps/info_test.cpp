// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/info/describe.hpp"
#include "sim/base/errors.hpp"
#include "tests/apps/synthetic_runs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace nudge;
using Catch::Contains;

TEST_CASE("info tells kind, config, losses, counts and datasets of a training run", "[info]") {
  const test::TemporaryDirectory dir;
  test::synthetic_training(60, true).write(dir / "run.h5", Overwrite::must_not_exist);
  const std::string text = describe_run_file(dir / "run.h5");
  CHECK_THAT(text, Contains("run.h5: train") && Contains("model.channels       128") && Contains("aep_anchored"));
  CHECK_THAT(text, Contains("events: 4") && Contains("(3, 4)") && Contains("nat") && Contains("backprop"));

  const auto json = nlohmann::json::parse(describe_run_file(dir / "run.h5", DescribeFormat::json));
  CHECK(json["kind"] == "train");
  CHECK(json["attributes"]["seed"] == 7);
  CHECK(json["config"]["estimator"] == "aep_anchored");
  CHECK(json["lanes"].size() == 2);
  CHECK(json["lanes"][0]["steps"] == 60);
  CHECK(json["lanes"][0]["nonfinite"] == 1);
  CHECK(json["lanes"][0]["loss"].get<double>() > 2);
  CHECK_FALSE(json["datasets"].empty());
}

TEST_CASE("info describes gradchecks, sweeps and reference cases, and refuses damage", "[info]") {
  const test::TemporaryDirectory dir;
  test::synthetic_gradcheck().write(dir / "g.h5", Overwrite::must_not_exist);
  test::synthetic_sweep(true).write(dir / "s.h5", Overwrite::must_not_exist);
  CHECK(nlohmann::json::parse(describe_run_file(dir / "g.h5", DescribeFormat::json))["rows"] == 40);
  const auto sweep = nlohmann::json::parse(describe_run_file(dir / "s.h5", DescribeFormat::json));
  CHECK(sweep["points"] == 36);
  CHECK(sweep["keys"] == nlohmann::json{"devices.read_noise", "estimator"});

  H5Document other;
  other.attribute("kind", "eqblock");
  other.attribute("B", std::int64_t{3});
  other.dataset("inputs/idx", std::vector<std::int64_t>(6, 1), {2, 3}, {});
  other.write(dir / "case.h5", Overwrite::must_not_exist);
  CHECK_THAT(describe_run_file(dir / "case.h5"), Contains("eqblock") && Contains("inputs/idx") && Contains("(2, 3)"));

  std::ofstream(dir / "text.h5") << "not HDF5";
  CHECK_THROWS_AS(describe_run_file(dir / "text.h5"), UserError);
  CHECK_THROWS_AS(describe_run_file(dir / "none.h5"), UserError);
}
