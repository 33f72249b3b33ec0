// SPDX-License-Identifier: Apache-2.0
// Pulses and waits of one file: the law of pulses and the leak in one likelihood.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <map>
#include <span>

#include "devices/device_config.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/fit_waits.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// A device of soft bounds, window 1 to 20 uS, pulses of 5 % of the rest with 30 % noise each, that leaks to 4 uS. It gets four rounds of 30
/// pulses up and 20 down, `pause_s` apart, and then eight reads 5 s apart, each of ±`noise_uS`.
struct LeakyDevice {
  double leak_s, noise_uS, pause_s = 1e-9, pulse_noise = 0, g_max_uS = 20;

  std::string rows(const std::string& name, std::uint64_t seed) const {
    std::vector<double> draws(1000);
    fill_normal<double>({seed, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
    std::size_t drawn = 0;
    std::string text;
    double g = 2, t = 0;
    int pulse = 0;
    const auto row = [&](const char* direction) {
      text += fmt::format("{},{},{:.6f},{},{:.4f}\n", name, pulse, g + noise_uS * draws[drawn++], direction, 1e3 * t);
    };
    const auto wait = [&](double seconds) {
      g = leak_s > 0 ? 4 + (g - 4) * std::exp(-seconds / leak_s) : g;
      t += seconds;
    };
    row("");
    for (int round = 0; round < 4; ++round) {
      for (int k = 0; k < 50; ++k) {
        wait(pause_s);
        const double step = k < 30 ? 0.05 * (g_max_uS - g) : -0.05 * (g - 1);
        g = std::clamp(g + step * (1 + pulse_noise * draws[drawn++]), 1.0, g_max_uS);
        ++pulse;
        row(k < 30 ? "up" : "down");
      }
      for (int k = 0; k < 8; ++k) {
        wait(5);
        row("wait");
      }
    }
    return text;
  }
};

constexpr const char* header = "device,pulse,G (uS),direction,t (ms)\n";

std::vector<LabRecord> records_of(const LeakyDevice& device, std::uint64_t seed) {
  return parse_lab_csv(header + device.rows("d", seed), "w.csv");
}

const FittedNumber* number_of_fit(const PopulationFit& fit, const std::string& name) {
  for (const FittedNumber& number : fit.common.intervals) {
    if (number.name == name) return &number;
  }
  return nullptr;
}

bool misses(const FittedNumber& number, double truth) {
  return (number.low && *number.low > truth) || (number.high && *number.high < truth);
}

/// Numbers of a LeakyDevice, with its rest at (4 − 1)/(20 − 1) of the window and its pulses at the middle, 10.5 uS.
std::map<std::string, double> truth_of(const LeakyDevice& device) {
  return {{"g_min", 1e-6},
          {"g_max", 20e-6},
          {"pulse_up", 0.05 * 9.5e-6},
          {"pulse_down", 0.05 * 9.5e-6},
          {"update_noise", device.pulse_noise},
          {"read_noise", 1e-6 * device.noise_uS},
          {"leak_time", device.leak_s},
          {"leak_rest", 3.0 / 19}};
}

/// Intervals of 95 % of the numbers of n simulated devices, and how often each misses the truth.
std::map<std::string, int> missed_by_joint_fits(const LeakyDevice& device, int n, std::uint64_t first) {
  std::map<std::string, int> missed;
  for (int k = 0; k < n; ++k) {
    const std::vector<LabRecord> records = records_of(device, first + static_cast<std::uint64_t>(k));
    PopulationFit fit = fit_population(records, "soft_bounds");
    add_intervals(fit, records);
    for (const auto& [name, truth] : truth_of(device)) {
      const FittedNumber* number = number_of_fit(fit, name);
      missed[name] += number == nullptr || misses(*number, truth) ? 1 : 0;
    }
  }
  return missed;
}

/// Misses of an interval of 95 % that n records exceed once in 10^4.
int most_misses(int n) {
  return static_cast<int>(boost::math::quantile(boost::math::complement(boost::math::binomial(n, 0.05), 1e-4)));
}

/// Pulses of 5 % of the rest and a loss of 1 − e^-0.1 = 9.5 % before each balance at (20 + 2 · 4)/3 = 9.5 uS, as in organic and 6T1C devices.
constexpr LeakyDevice fast = {3, 0.05, 0.3, 0.3};
constexpr LeakyDevice slow = {60, 0.05, 0.3, 0.3};

}  // namespace

TEST_CASE("waits among pulses tell the leak, and leave the law of the pulses alone", "[waits]") {
  TableLook look;
  const std::vector<LabRecord> records = parse_lab_csv(header + LeakyDevice{20, 0.02}.rows("d", 1), "w.csv", {}, &look);
  REQUIRE(records.size() == 4);
  CHECK(records[0].pulses.pulses() == 50);
  CHECK(records[3].pulses.pulses() == 50);
  CHECK(!records[0].pulses.goes_on);
  CHECK(records[1].pulses.goes_on);
  REQUIRE(records[0].pulses.waits.size() == 8);
  CHECK(records[0].pulses.waits[1].since_pulse_s == Approx(10));
  CHECK_THAT(look.understood.at(0).text(""), Contains("32 reads follow a wait: a leak is looked for in them"));
  PopulationFit fit = fit_population(records, "soft_bounds");
  add_intervals(fit, records);
  const LeakFit leak = tell_leak(fit, records);
  REQUIRE((leak.shows && leak.low_s && leak.high_s));
  CHECK(*leak.low_s < 20);
  CHECK(*leak.high_s > 20);
  CHECK(leak.time_s == Approx(20).epsilon(0.05));
  CHECK(leak.rms_S ==
        Approx(std::sqrt(1 + std::exp(-0.5)) * 0.02e-6).epsilon(0.35));  // two reads, the first of them kept by e^-5/20
  const DeviceSpec& spec = fit.common.spec;
  CHECK(spec.g_max_S == Approx(20e-6).epsilon(0.02));
  CHECK(spec.retention.leak_time_s == leak.time_s);
  CHECK(spec.g_min_S + spec.retention.leak_rest * spec.window_S() == Approx(4e-6).epsilon(0.05));
  CHECK_THAT(fit_toml(fit.common, "w.csv"),
             Contains("leak_time = ") && Contains("leak_rest = ") && Contains("#   leak_time = "));
}

TEST_CASE("the filter of a leak predicts reads as the closed form of two readings has it", "[waits]") {
  // One pulse that moves nothing, then a wait: y_2 − E y_2 has the variance σ²(1 + k²) if y_0 and y_1 see the same g with σ each,
  // but with both known g has σ²/2: σ² (1 + k²/2), k = e^-Δt/T.
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = 0;
  spec.g_max_S = 100e-6;
  spec.pulses = 1e9;
  spec.retention.leak_time_s = 10;
  spec.retention.leak_rest = 0.25;
  const PulseRecord record{{50e-6, 52e-6}, {Direction::up, Direction::up}, {}, {}, {}, {{7, 30e-6}}};
  Eigen::VectorXd error(2), variance(2);
  filter_pulses(PulseLaw(spec), record, {0, 1e-6, {}}, error, variance);
  const double kept = std::exp(-0.7);
  CHECK(variance[0] == Approx(2e-12).epsilon(1e-9));  // rounding
  CHECK(variance[1] == Approx(1e-12 * (1 + kept * kept / 2)).epsilon(1e-9));
  CHECK(error[1] == Approx(30e-6 - (25e-6 + 26e-6 * kept)).epsilon(1e-6));  // a pulse of 1e-9 of the window
}

TEST_CASE("laws side by side are filtered as each alone", "[waits]") {
  const std::vector<LabRecord> labs = records_of(fast, 3);
  std::vector<PulseRecord> records;
  std::size_t reads = 0;
  for (const LabRecord& one : labs) records.push_back(one.pulses), reads += one.pulses.reads();
  for (const char* model : {"soft_bounds", "linear_step", "piecewise", "power_step", "label_curve"}) {
    for (const bool slow_noise : {false, true}) {
      std::vector<PulseLaw> laws;
      std::vector<RecordNoise> noise;
      for (std::size_t l = 0; l < filter_lanes; ++l) {
        DeviceSpec spec = first_guesses(records, model, 5, {3 + 0.1 * static_cast<double>(l), 4e-6})[0];
        spec.g_max_S *= 1 + 0.01 * static_cast<double>(l);
        laws.emplace_back(spec);
        noise.push_back({0.1, 5e-8, {}});
        if (slow_noise) noise.back().slow = {{3e-8, 10.0 + static_cast<double>(l)}};
      }
      std::vector<double> error(reads * filter_lanes), variance(error.size()), one(reads), one_variance(reads);
      filter_records(laws, noise, records, error, variance);
      double off = 0;
      for (std::size_t l = 0; l < filter_lanes; ++l) {
        filter_records({&laws[l], 1}, {&noise[l], 1}, records, one, one_variance);
        for (std::size_t r = 0; r < reads; ++r) {
          off = std::max(off, std::abs(error[r * filter_lanes + l] - one[r]));
          off = std::max(off, std::abs(std::sqrt(variance[r * filter_lanes + l]) - std::sqrt(one_variance[r])));
        }
      }
      CAPTURE(model, slow_noise);
      CHECK(off < 1e-17);  // of 2e-5 S, to rounding
    }
  }
}

TEST_CASE("intervals of a leaky device hold the truth of law and leak", "[waits]") {
  for (const auto& [name, missed] : missed_by_joint_fits(fast, 12, 50)) {
    CAPTURE(name);
    CHECK(missed <= most_misses(12));
  }
}

TEST_CASE("a leak between pulses that is left out bends the law, and the joint fit does not", "[waits]") {
  // 9.5 % of (g − 4 uS) is lost before every pulse of 5 %: a law without it takes the balance of both for its bound.
  double joint = 0, in_turn = 0;
  constexpr int devices = 6;
  for (std::uint64_t seed = 1; seed <= devices; ++seed) {
    const std::vector<LabRecord> records = records_of(fast, seed);
    joint += fit_population(records, "soft_bounds").common.spec.g_max_S / devices;
    std::vector<PulseRecord> alone;
    for (const LabRecord& one : records) {
      alone.push_back(one.pulses);
      alone.back().pause_s.clear();
      alone.back().waits.clear();
      alone.back().goes_on = false;
    }
    in_turn += fit_records(alone, "soft_bounds").spec.g_max_S / devices;
  }
  WARN(fmt::format("g_max of 20 uS: {:.2f} uS in one likelihood, {:.2f} uS in turn", 1e6 * joint, 1e6 * in_turn));
  CHECK(joint == Approx(20e-6).epsilon(0.1));
  CHECK(std::abs(in_turn - 20e-6) > 0.2 * 20e-6);
}

TEST_CASE("intervals of leaky devices, over leaks", "[waits][slow]") {
  constexpr int devices = 60;
  for (const LeakyDevice& device : {fast, slow, LeakyDevice{3, 0.2, 0.3, 0.3}, LeakyDevice{20, 0.05, 1e-9, 0}}) {
    std::string all;
    for (const auto& [name, missed] : missed_by_joint_fits(device, devices, 1000)) {
      CAPTURE(device.leak_s, name);
      all += fmt::format(" {} {}", name, missed);
      if (name == "update_noise" && device.pulse_noise == 0) continue;  // 0 lies below any coordinate
      CHECK(missed <= most_misses(devices));
    }
    WARN(fmt::format("leak {} s, reads {} uS, missed of {}:{}", device.leak_s, device.noise_uS, devices, all));
  }
}

TEST_CASE("leaky devices of a population have one leak time, with its spread", "[waits]") {
  std::string text = header;
  for (int d = 0; d < 5; ++d) {
    // Leak times 3 s times 0.7, 0.85, 1, 1.15, 1.3: mean of the logarithms −0.023, deviation 0.24.
    text += LeakyDevice{3 * (0.7 + 0.15 * d), 0.05, 0.3, 0.3}.rows(fmt::format("d{}", d),
                                                                   70 + static_cast<std::uint64_t>(d));
  }
  const std::vector<LabRecord> records = parse_lab_csv(text, "w.csv");
  PopulationFit fit = fit_population(records, "soft_bounds");
  add_intervals(fit, records);
  const LeakFit leak = tell_leak(fit, records);
  REQUIRE((leak.shows && leak.low_s && leak.high_s));
  const RetentionSpec& retention = fit.common.spec.retention;
  CHECK(leak.time_s == retention.leak_time_s);
  CHECK(number_of_fit(fit, "leak_time")->value == retention.leak_time_s);
  CHECK(*leak.low_s < 3 * std::exp(-0.023));
  CHECK(*leak.high_s > 3 * std::exp(-0.023));
  CHECK(retention.leak_spread == Approx(0.24).margin(0.12));  // a device knows its time to about 10 %
  CHECK_THAT(fit_toml(fit, "w.csv"), Contains("leak_spread = "));
}

TEST_CASE("waits of a device that keeps its conductance give no leak", "[waits]") {
  // Schwarz's criterion lets −2 ln L fall by 2 ln 232 = 10.9 with two numbers: χ² does so once in 230.
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    shown += fit_population(records_of({0, 0.05}, seed), "soft_bounds").common.spec.retention.leaks() ? 1 : 0;
  }
  CHECK(shown <= 1);
  const std::vector<LabRecord> records = records_of({0, 0.05}, 3);
  PopulationFit fit = fit_population(records, "soft_bounds");
  REQUIRE(!tell_leak(fit, records).shows);
  CHECK(fit.common.spec.retention.leak_time_s == 0);
  CHECK_THAT(fit.common.of_devices.at(0), Contains("show no leak"));
}

TEST_CASE("pulses that come before the reading above them are named where times matter", "[waits]") {
  const std::string pulses = "pulse,G (uS),direction,t\n0,1,,0\n1,2,up,1\n2,3,up,0.5\n3,3.5,up,3\n4,3.7,up,4\n";
  CHECK_NOTHROW(parse_lab_csv(pulses, "w.csv"));
  CHECK_THROWS_WITH(parse_lab_csv(pulses + "4,3.6,wait,9\n", "w.csv"), Contains("w.csv:4") && Contains("must grow"));
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
  // Conductances have six decimals of uS: 1e-6 of a change of some uS, and 160 s of 100 s. The fit's reads are known to 1e-6 of the range.
  const PopulationFit fit = fit_population(records_of({100, 0}, 1), "soft_bounds");
  CHECK(fit.common.spec.retention.leak_time_s == Approx(100).epsilon(1e-4));
}
