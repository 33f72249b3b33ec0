// SPDX-License-Identifier: Apache-2.0
// Fits that have a bound on their time, and fits of cells that are only read.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using namespace nudge::test;
using Catch::Contains;

TEST_CASE("devices fit --seconds ends with the reason and what it had done", "[apps]") {
  const Folder folder;
  std::string csv = "device,pulse,G (uS),direction\n";
  for (int device = 0; device < 3; ++device) {
    double g = 2;
    for (int i = 0; i <= 40; ++i) {
      if (i > 0) g += i <= 20 ? 0.1 * (12 + device - g) : -0.08 * (g - 1);
      csv += fmt::format("{},{},{:.6f},{}\n", device, i, g, i <= 20 ? "up" : "down");
    }
  }
  folder.write("pulses.csv", csv);
  const Outcome cut = run_nudge(folder, "devices fit pulses.csv --model linear_step --seconds 1e-9 --out cut.toml");
  CHECK(cut.exit_code == 3);
  CHECK_THAT(cut.errors, Contains("--seconds 1e-09 ended before the fit: it had done 0 of 3 devices"));
  CHECK(!std::filesystem::exists(folder.file("cut.toml")));
  const Outcome whole = run_nudge(folder, "devices fit pulses.csv --model soft_bounds --seconds 1e6 --json");
  REQUIRE(whole.exit_code == 0);
  CHECK(nlohmann::json::parse(whole.output)["stopped"].is_null());
  CHECK(run_nudge(folder, "devices fit pulses.csv --seconds -1").exit_code == 2);
  CHECK_THAT(run_nudge(folder, "devices fit pulses.csv --iv --seconds 1").errors, Contains("fits of pulses only"));
  CHECK_THAT(run_nudge(folder, "devices fit pulses.csv --read-time '1 us'").errors, Contains("--disturb only"));
}

TEST_CASE("devices fit --disturb writes what the simulator reads", "[apps]") {
  const Folder folder;
  std::string csv = "cell,reads,G (uS)\n";
  for (int cell = 0; cell < 2; ++cell) {
    for (int k = 0; k <= 20; ++k) {  // T = 1 ms, to 16 uS
      csv += fmt::format("{},{},{:.9f}\n", cell, 1000 * k, 16 + (4 + cell - 16) * std::exp(-0.1 * k));
    }
  }
  folder.write("reads.csv", csv);
  const Outcome fit = run_nudge(
      folder, "devices fit reads.csv --disturb --read-time '100 ns' --window '1 uS,21 uS' --out disturb.toml --json");
  REQUIRE(fit.exit_code == 0);
  const auto all = nlohmann::json::parse(fit.output);
  CHECK(all["read_disturb_time_s"]["value"].get<double>() == Approx(1e-3).epsilon(1e-4));  // nine decimals of uS
  CHECK(all["target_S"]["value"].get<double>() == Approx(16e-6).epsilon(1e-4));
  CHECK(all["understood"][0]["rows"] == 42);
  const Outcome dump = run_nudge(folder, "config check disturb.toml");
  CHECK(dump.exit_code == 0);
  CHECK_THAT(dump.output, Contains("device.read_disturb_time"));
  const Outcome counted = run_nudge(folder, "devices fit reads.csv --disturb");
  CHECK(counted.exit_code == 2);
  CHECK_THAT(counted.errors, Contains("--read-time") && Contains("understood: columns: cell"));
}
