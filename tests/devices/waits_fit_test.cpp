// SPDX-License-Identifier: Apache-2.0
// Pulses and waits of one file: the law of pulses and the leak.
#include <fmt/format.h>

#include <cmath>
#include <span>

#include "devices/device_config.hpp"
#include "devices/fit/fit_waits.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Four rounds of 30 pulses up, 20 down and eight reads 5 s apart of a soft-bounds device (window 1 to 20 uS, pulses of 5 %) that leaks to 4 uS
/// within `leak_s`, with reads of ±`noise_uS`.
std::string record(double leak_s, double noise_uS, std::uint64_t seed) {
  std::vector<double> draws(1000);
  fill_normal<double>({seed, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  std::size_t drawn = 0;
  std::string text = "pulse,G (uS),direction,t (ms)\n";
  double g = 2, t = 0;
  int pulse = 0;
  const auto row = [&](const char* direction) {
    text += fmt::format("{},{:.6f},{},{:.4f}\n", pulse, g + noise_uS * draws[drawn++], direction, 1e3 * t);
  };
  row("");
  for (int round = 0; round < 4; ++round) {
    for (int k = 0; k < 50; ++k) {
      g += k < 30 ? 0.05 * (20 - g) : -0.05 * (g - 1);
      t += 1e-6;
      ++pulse;
      row(k < 30 ? "up" : "down");
    }
    for (int k = 0; k < 8; ++k) {
      g = leak_s > 0 ? 4 + (g - 4) * std::exp(-5 / leak_s) : g;
      t += 5;
      row("wait");
    }
  }
  return text;
}

}  // namespace

TEST_CASE("waits among pulses tell the leak, and leave the law of the pulses alone", "[waits]") {
  TableLook look;
  const std::vector<LabRecord> records = parse_lab_csv(record(20, 0.02, 1), "w.csv", {}, &look);
  REQUIRE(records.size() == 4);
  CHECK(records[0].pulses.pulses() == 50);
  CHECK(records[3].pulses.pulses() == 50);
  REQUIRE(records[0].waits.size() == 8);
  CHECK(records[0].waits[1].since_pulse_s == Approx(10));
  CHECK_THAT(look.understood.at(0).text(""), Contains("32 reads follow a wait: a leak is looked for in them"));
  PopulationFit fit = fit_population(records, "soft_bounds");
  const LeakFit leak = add_leak(fit, records);
  CHECK(leak.shows);
  CHECK(leak.time_low_s < 20);
  CHECK(leak.time_high_s > 20);
  CHECK(leak.time_s == Approx(20).epsilon(0.05));
  CHECK(leak.rms_S ==
        Approx(std::sqrt(1 + std::exp(-0.5)) * 0.02e-6).epsilon(0.35));  // two reads, the first of them kept by e^-5/20
  const DeviceSpec& spec = fit.common.spec;
  CHECK(spec.g_max_S == Approx(20e-6).epsilon(0.02));
  CHECK(spec.retention.leak_time_s == leak.time_s);
  CHECK(spec.g_min_S + spec.retention.leak_rest * spec.window_S() == Approx(4e-6).epsilon(0.05));
  CHECK_THAT(fit_toml(fit.common, "w.csv"),
             Contains("leak_time = ") && Contains("leak_rest = ") && Contains("reads after a wait"));
}

TEST_CASE("the interval of a leak time holds the truth as often as it says", "[waits]") {
  int held = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const LeakFit leak = fit_waits(parse_lab_csv(record(20, 0.05, seed), "w.csv"));
    held += leak.time_low_s <= 20 && leak.time_high_s >= 20 ? 1 : 0;
  }
  CHECK(held >= 88);  // 95 of 100; 87 or fewer by chance once in 500
}

TEST_CASE("waits of a device that keeps its conductance give no leak", "[waits]") {
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<LabRecord> records = parse_lab_csv(record(0, 0.05, seed), "w.csv");
    shown += fit_waits(records).shows ? 1 : 0;
  }
  CHECK(shown <= 3);
  PopulationFit fit;
  const std::vector<LabRecord> records = parse_lab_csv(record(0, 0.05, 3), "w.csv");
  fit.common.spec.model = "soft_bounds";
  if (!add_leak(fit, records).shows) {
    CHECK(fit.common.spec.retention.leak_time_s == 0);
    CHECK_THAT(fit.common.of_devices.at(0), Contains("show no leak"));
  }
}

TEST_CASE("waits that cannot be read are named, and times without waits are left aside", "[waits]") {
  const auto read = [](const std::string& text) {
    TableLook look;
    parse_lab_csv(text, "w.csv", {}, &look);
    return look.understood.at(0).text("");
  };
  const std::string pulses = "0,1,,0\n1,2,up,1\n2,3,up,2\n3,3.5,up,3\n4,3.7,up,4\n";
  CHECK_THAT(read("pulse,G (uS),direction,t\n" + pulses), Contains("columns left aside: t"));
  CHECK_THAT(read("pulse,G (uS),direction,t\n" + pulses + "5,3.6,wait,9\n"), Contains("time = \"t\" in s"));
  CHECK_THROWS_WITH(read("pulse,G (uS),direction\n0,1,\n1,2,up\n2,3,up\n2,2.9,wait\n"),
                    Contains("w.csv:5: a wait needs a column time"));
  CHECK_THROWS_WITH(read("pulse,G (uS),direction,t\n" + pulses + "4,3.6,wait,4\n"),
                    Contains("w.csv:7") && Contains("must grow"));
  CHECK_THROWS_WITH(read("pulse,G (uS),direction,t\n0,1,wait,0\n"),
                    Contains("w.csv:2: a wait before the first reading"));
  CHECK_THROWS_WITH(read("pulse,G (uS),direction,t\n0,1,,0\n0,1,wait,1\n"),
                    Contains("w.csv:3: a wait without a pulse"));
}

TEST_CASE("a leak time without noise is found to the rounding of the table", "[waits]") {
  // Conductances have six decimals of uS: 1e-6 of a change of some uS, and 160 s of 100 s.
  const LeakFit leak = fit_waits(parse_lab_csv(record(100, 0, 1), "w.csv"));
  CHECK(leak.time_s == Approx(100).epsilon(1e-5));
  const LeakFit noisy = fit_waits(parse_lab_csv(record(100, 0.001, 1), "w.csv"));
  // Squares are nearly parabolic in the rate 1/T: both ends of the interval are as far from it, beyond a grid's 0.75 %.
  CHECK(1 / noisy.time_low_s - 1 / noisy.time_s == Approx(1 / noisy.time_s - 1 / noisy.time_high_s).epsilon(0.01));
}
