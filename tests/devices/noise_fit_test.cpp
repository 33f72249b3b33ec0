// SPDX-License-Identifier: Apache-2.0
// Noise over level: what a NoiseTable simulates against its closed forms, and fits of reads against what made them.
#include <fmt/format.h>

#include <array>

#include <cmath>
#include <random>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_noise.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

constexpr double dt = 1e-3;

/// Two levels. Processes faster than a tenth of a read would be white noise to a fit, and are left out.
DeviceSpec noisy_device() {
  DeviceSpec spec;
  spec.model = "constant_step";
  spec.g_min_S = 0;
  spec.g_max_S = 40e-6;
  spec.noise.level_S = {10e-6, 30e-6};
  spec.noise.white_S = {0.2e-6, 0.05e-6};
  spec.noise.flicker = {0.006, 0.004};
  spec.noise.exponent = {0.8, 1.3};
  spec.flicker.fastest_s = 1e-4;
  spec.flicker.slowest_s = 1e4;
  return spec;
}

/// Reads of cells of one level: (reads, cells).
Matrix<double> reads_of(const DeviceSpec& spec, double g_S, Index cells, Index reads, std::uint64_t seed) {
  DeviceArray<double> array(spec, 1, cells, {seed, 0, 0}, 2);
  array.program(Matrix<double>::Constant(1, cells, g_S), 0);
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  Matrix<double> out(reads, cells);
  for (Index t = 0; t < reads; ++t) {
    array.advance_time(dt, static_cast<std::uint64_t>(t), Gathering::none);
    out.row(t) = array.conductance().row(0);
    for (Index i = 0; i < cells; ++i) out(t, i) += spec.noise.white_at(g_S) * normal(engine);
  }
  return out;
}

std::string long_table(const Matrix<double>& reads, int level, int first_cell) {
  std::string csv;
  for (Index i = 0; i < reads.cols(); ++i) {
    for (Index t = 0; t < reads.rows(); ++t) {
      csv += fmt::format("{},{},{:.17g},{}\n", first_cell + i, t, 1e6 * reads(t, i), level);  // a read each ms
    }
  }
  return csv;
}

bool inside(const NoiseEstimate& e, double truth) { return e.low <= truth && truth <= e.high; }

}  // namespace

TEST_CASE("1/f^a noise of a table: spectrum Q^2/f^a at its level", "[noise_fit]") {
  const DeviceSpec spec = noisy_device();
  for (const std::size_t l : {0U, 1U}) {
    const double g = spec.noise.level_S[l];
    DeviceSpec still = spec;
    still.noise.white_S = {0, 0};
    still.flicker.fastest_s = 5 * dt;  // nothing folds back from above half the rate
    const Matrix<double> reads = reads_of(still, g, 60, 8192, 5 + l);
    std::vector<double> psd;
    std::vector<double> f;
    for (Index i = 0; i < reads.cols(); ++i) {
      const std::vector<double> own(reads.col(i).begin(), reads.col(i).end());
      const std::vector<SpectrumBand> bands = banded_spectrum(own, dt);
      psd.resize(bands.size());
      f.resize(bands.size());
      for (std::size_t b = 0; b < bands.size(); ++b) {
        psd[b] += bands[b].psd / static_cast<double>(reads.cols());
        double inverse = 0;  // the closed form, averaged as the band is
        for (const double x : bands[b].points_Hz) inverse += std::pow(x, -spec.noise.exponent[l]);
        f[b] = inverse / static_cast<double>(bands[b].points_Hz.size());
      }
    }
    const double q = spec.noise.flicker[l] * g;
    for (const std::size_t b : {0U, 1U}) {  // 0.24 to 4 Hz, 4 to 8 Hz
      INFO("level " << l << " band " << b);
      // 60 cells with 7 values of a periodogram each at least: 5 standard errors are 24 %. Ripple of the time constants 6 %; those below
      // 5 dt/√10 = τ, left out, have a share ∫₀^x x^(α−1)/(1 + x²) dx 2 sin(πα/2)/π of the spectrum, x = 2πfτ = 0.08: 10 % for α = 0.8.
      CHECK(psd[b] / (q * q * f[b]) == Approx(1).epsilon(0.4));
    }
  }
}

TEST_CASE("a noise table lies between its levels and replaces nothing else", "[noise_fit]") {
  DeviceSpec spec = noisy_device();
  CHECK_NOTHROW(spec.validate());
  CHECK(spec.noise.white_at(20e-6) == Approx(0.125e-6));
  CHECK(spec.noise.exponent_at(0, 1) == Approx(0.8));  // the end level beyond
  CHECK(spec.noise.exponent_at(1, 1) == Approx(1.3));
  CHECK(spec.read_sigma_S(20e-6) == Approx(0.125e-6));
  spec.noise.trap = {0.1, 0.1};
  spec.noise.trap_high_s = {1e-3, 1e-1};
  spec.noise.trap_low_s = {1e-3, 1e-3};
  CHECK(spec.noise.trap_at(20e-6).high_s == Approx(1e-2));  // geometric
  spec.read_noise = 0.001;
  CHECK(spec.read_sigma_S(20e-6) == Approx(std::hypot(0.125e-6, 0.04e-6)));
  // Both ways of a uniform exponent are one: a table of one level, and flicker_exponent.
  DeviceSpec table;
  table.noise.level_S = {10e-6};
  table.noise.flicker = {0.01};
  table.noise.exponent = {1.4};
  DeviceSpec scalar;
  scalar.flicker.noise = 0.01;
  scalar.flicker.exponent = 1.4;
  DeviceArray<double> a(table, 8, 8, {3, 1, 0});
  DeviceArray<double> b(scalar, 8, 8, {3, 1, 0});
  for (auto* array : {&a, &b}) {
    array->program(Matrix<double>::Constant(8, 8, 12e-6), 0);
    array->advance_time(0.1, 1);
  }
  CHECK(a.conductance() == b.conductance());
}

TEST_CASE("noise within phases: every process of 1/f^a noise has its own variance", "[noise_fit]") {
  DeviceSpec spec = noisy_device();
  DeviceArray<double> array(spec, 1, 1, {3, 1, 0});
  array.program(Matrix<double>::Constant(1, 1, 30e-6), 0);
  array.leave_moving(1);
  const auto moving = array.moving();
  REQUIRE(moving.size() == 4);  // 0.1 ms to 0.1 s
  for (std::size_t k = 0; k < moving.size(); ++k) {
    const double tau = 1e-4 * std::pow(10.0, static_cast<double>(k));
    REQUIRE(moving[k].times_s == std::vector<double>{moving[k].times_s.front()});
    CHECK(moving[k].times_s.front() == Approx(tau));
    // v = Q² (2π)^(α−1) sin(πα/2) τ^(α−1) ln 10 with α = 1.3: sin(117°) = 0.891007.
    const double v =
        std::pow(0.004 * 30e-6, 2) * std::pow(2 * M_PI, 0.3) * 0.891007 * std::pow(tau, 0.3) * std::log(10);
    CHECK(moving[k].variance_S2(0, 0) == Approx(v).epsilon(1e-5));
  }
}

TEST_CASE("telegraph noise of a table has the amplitude and the shares of the level", "[noise_fit]") {
  DeviceSpec spec;
  spec.noise.level_S = {5e-6, 20e-6};
  spec.noise.trap = {0.02, 0.04};
  spec.noise.trap_high_s = {1e-3, 3e-3};
  spec.noise.trap_low_s = {1e-3, 1e-3};
  spec.telegraph.share = 1;
  DeviceArray<double> array(spec, 50, 50, {3, 1, 0});
  array.program(Matrix<double>::Constant(50, 50, 20e-6), 0);
  for (int step = 0; step < 2; ++step) {  // just programmed, and later
    const auto relative = (array.conductance().array() / 20e-6 - 1).eval();
    const double high = static_cast<double>((relative > 0).count());
    CHECK(std::abs(high - 2500 * 0.75) < 5 * std::sqrt(2500 * 0.75 * 0.25));  // binomial, false alarm 6e-7
    CHECK(relative.maxCoeff() == Approx(0.04 * 0.25));
    CHECK(relative.minCoeff() == Approx(-0.04 * 0.75));
    array.advance_time(1, static_cast<std::uint64_t>(step));
  }
}

TEST_CASE("a fit finds the noise that made the reads, within its intervals", "[noise_fit]") {
  DeviceSpec spec = noisy_device();
  spec.telegraph.share = 1;
  spec.noise.trap = {0, 0.02};
  spec.noise.trap_high_s = {0.04, 0.04};
  spec.noise.trap_low_s = {0.01, 0.01};
  constexpr int repeats = 12;
  std::array<int, 7> found{};
  for (int k = 0; k < repeats; ++k) {
    std::string csv = "cell,time_ms,conductance_uS,level\n";
    for (const int l : {0, 1}) {
      const double g = spec.noise.level_S[static_cast<std::size_t>(l)];
      csv += long_table(reads_of(spec, g, 2, 15000, static_cast<std::uint64_t>(100 + 2 * k + l)), l, 10 * l);
    }
    const NoiseFit fit = parse_and_fit_noise(csv, "made.csv", 0);
    REQUIRE(fit.levels.size() == 2);
    CHECK(fit.interval_s == Approx(dt));
    CHECK(fit.levels[0].cells == 2);
    for (const std::size_t l : {0U, 1U}) {
      const NoiseModel& m = fit.levels[l].model;
      found[3 * l] += inside(m.white, spec.noise.white_S[l]);
      found[3 * l + 1] += inside(m.flicker, spec.noise.flicker[l] * spec.noise.level_S[l]);
      found[3 * l + 2] += inside(m.exponent, spec.noise.exponent[l]);
    }
    found[6] += inside(fit.levels[1].model.trap_s, 1 / (1 / 0.04 + 1 / 0.01));
    REQUIRE(fit.levels[1].model.has_trap());
    // sd of the trap 0.02 · 30 uS · √(0.8 · 0.2) = 0.24 uS: 30 s of reads hold 3750 of its correlation times, known to some per cent.
    CHECK(fit.levels[1].model.trap_sigma.value == Approx(0.24e-6).epsilon(0.2));
    // Its share in the higher value from the skewness, which slow noise makes uncertain: 0.8 against 0.2.
    CHECK(fit.levels[1].trap.share_high() == Approx(0.8).margin(0.12));
  }
  // Binomial(12, 0.95): fewer than 8 once in 5000.
  for (const int count : found) CHECK(count >= 8);
}

TEST_CASE("a fit of noise says what is wrong with its reads", "[noise_fit]") {
  const auto problem = [](const std::string& text, double rate = 0) {
    try {
      parse_and_fit_noise(text, "f.csv", rate);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK_THAT(problem("cell,time_s\n1,2\n"),
             Contains("f.csv:1: column \"conductance\" is missing") && Contains("time") && Contains("level"));
  CHECK_THAT(problem("time,conductence\n1,2\n"), Contains("f.csv:1: unknown column \"conductence\""));
  CHECK_THAT(problem("time_s,conductance_uS\n-1,2\n"), Contains("f.csv:2: time -1 is negative"));
  CHECK_THAT(problem("time_s,conductance_uS\n0,2\n1,2 nS\n"), Contains("f.csv:3: conductance \"2 nS\""));
  CHECK_THAT(problem("time_s,conductance_uS\n0,2\n1,nan\n"), Contains("f.csv:2: 1 reads"));  // a missing one
  CHECK_THAT(problem("time_s,conductance_uS\n0,2\n"), Contains("f.csv:2: 1 reads"));
  CHECK_THAT(problem("time_s,conductance\n0,2\n"), Contains("f.csv:2") && Contains("wire"));
  std::string same = "time_s,conductance_uS\n";
  std::string twice = same;
  std::string gap = same;
  for (int t = 0; t < 300; ++t) {
    same += fmt::format("{},10\n", t);
    twice += fmt::format("{},{}\n", t / 2, 10 + t % 7);
    gap += fmt::format("{},{}\n", t < 200 ? t : t + 1, 10 + t % 7);
  }
  CHECK_THAT(problem(same), Contains("f.csv:2: all 300 reads are 1e-05 S"));
  CHECK_THAT(problem(twice), Contains("f.csv:3: time 0 s occurs twice"));
  CHECK_THAT(problem(gap), Contains("f.csv:202: a gap of 2 s"));
  CHECK_THAT(problem(same, 400), Contains("--rate"));
  std::string rows = "1\t0";
  for (int t = 0; t < 300; ++t) rows += fmt::format("\t{}e-6", 10 + t % 7);
  CHECK_THAT(problem(rows + "\tnan\n"), Contains("f.csv:1: conductance \"nan\" is not a number"));
  CHECK_THAT(problem("# comment\n1\t0\t1e-6\t1e-6\t2e-6\n"), Contains("f.csv:2: 3 reads"));
  CHECK_THAT(problem(rows + "\n" + rows + "\n"), Contains("none"));  // two cells of one level
  CHECK_THAT(problem(rows + "\n2" + rows.substr(1) + "\n"), Contains("two levels have the same mean"));
}

TEST_CASE("lists of noise are checked", "[noise_fit]") {
  const auto refused = [](auto change, const char* why) {
    DeviceSpec spec = noisy_device();
    change(spec);
    CHECK_THROWS_WITH(spec.validate(), Contains(why));
  };
  refused([](DeviceSpec& s) { s.noise.white_S.pop_back(); }, "a number for each noise_level");
  refused([](DeviceSpec& s) { s.noise.level_S = {2e-6, 1e-6}; }, "ascending");
  refused([](DeviceSpec& s) { s.noise.exponent = {1, 2}; }, "[0.01, 1.99]");
  refused([](DeviceSpec& s) { s.noise.trap = {0.1, 0.1}; }, "together");
  refused([](DeviceSpec& s) { s.flicker.noise = 0.1; }, "Give one of them");
  refused([](DeviceSpec& s) { s.noise.white_S = {-1, 0}; }, "noise_white must be at least 0 S");
}

TEST_CASE("noise of measured reads of technology A", "[noise_fit]") {
  const auto path = test::shared_file("data/devices/rram_a_reads.tsv.gz");
  if (!path) return;
  const NoiseFit fit = fit_noise(path->string(), 0);
  REQUIRE(fit.levels.size() == 5);
  CHECK(1 / fit.interval_s == Approx(published_rate_Hz));
  CHECK(fit.rows.size() > 50);
  CHECK(fit.worst_dB() < 2);  // asked for
  for (const NoiseRow& row : fit.rows) CHECK(row.psd_measured > 0);
  DeviceSpec spec;
  spec.noise = fit.table;
  spec.flicker.fastest_s = fit.fastest_s;
  spec.flicker.slowest_s = fit.slowest_s;
  spec.telegraph.share = 1;
  CHECK_NOTHROW(spec.validate());
}
