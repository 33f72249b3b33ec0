// SPDX-License-Identifier: Apache-2.0
// Fits that have a bound on their time, and fits of cells that are only read, of sweeps and of lives.
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

TEST_CASE("devices fit --iv and --endurance print what they understood, and write a configuration", "[apps]") {
  const Folder folder;
  std::string sweep = "voltage_V,current_A\n";
  for (int n = 0; n <= 80; ++n) {  // set above .7 V, reset below -.7 V
    const int k = n <= 20 ? n : n <= 60 ? 40 - n : n - 80;
    sweep += fmt::format("{},{}\n", 0.05 * k, 0.05 * k * (n > 14 && n <= 54 ? 1e-4 : 1e-6));
  }
  folder.write("sweep.csv", sweep);
  const Outcome told = run_nudge(folder, "devices fit sweep.csv --iv --json");
  CHECK(told.exit_code == 0);
  const auto iv = nlohmann::json::parse(told.output);
  CHECK(iv["set_V"]["value"].get<double>() == Approx(0.725).margin(0.03));  // within a step
  CHECK(iv["reset_V"]["value"].get<double>() == Approx(-0.725).margin(0.03));
  CHECK(iv["on_off"]["value"].get<double>() == Approx(100).epsilon(0.01));
  CHECK(iv["understood"][0]["rows"] == 81);
  CHECK_THAT(iv["no_law"].get<std::string>(), Contains("--rate"));
  folder.write("end.csv", "device,cycle,lrs_kOhm,hrs_kOhm\n1,1,5,100\n1,1000,5.1,90\n");
  const Outcome lives = run_nudge(folder, "devices fit end.csv --endurance --out end.toml");
  CHECK(lives.exit_code == 0);
  CHECK_THAT(lives.output, Contains("r_on = \"lrs_kOhm\" in kOhm") && Contains("every device lasted 2000 pulses"));
  const Outcome mixed = run_nudge(folder, "devices fit sweep.csv --endurance");
  CHECK(mixed.exit_code == 2);
  CHECK_THAT(mixed.errors, Contains("sweep.csv:2: at which voltage was the current read?") &&
                               Contains("columns left aside: voltage_V"));
  folder.write("iv.csv", "voltage_V,current_A\n0,0\n0.1,1e-6\n0.2,2e-6\n");
  const Outcome three = run_nudge(folder, "devices fit iv.csv --iv");
  CHECK(three.exit_code == 2);
  CHECK_THAT(three.errors, Contains("iv.csv") && Contains("3 rows") && Contains("comes back"));
  CHECK_THAT(three.errors, Contains("understood: columns: voltage = \"voltage_V\" in V, current = \"current_A\" in A"));
}
