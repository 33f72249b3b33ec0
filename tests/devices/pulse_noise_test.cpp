// SPDX-License-Identifier: Apache-2.0
// Noise of pulses of one size everywhere, and noise of reads that grows with the conductance: found where a device has them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_law.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

/// Soft bounds of 3 and 50 uS whose pulses go 5 % of the way up and 8 % down, as a lab would simulate them: the noise of a pulse has the size
/// `pulses_uS` everywhere and both ways, that of a read is `reads_uS` and `share` of the conductance.
struct SimulatedCell {
  double pulses_uS = 0, reads_uS = 0.15, share = 0, proportional = 0;

  /// n pulses up and n down, `cycles` times.
  std::vector<PulseRecord> measure(int n, int cycles, unsigned seed) const {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<PulseRecord> out;
    for (int c = 0; c < cycles; ++c) {
      PulseRecord record;
      double g = 4;
      for (int i = 0; i <= 2 * n; ++i) {
        const bool up = i <= n;
        const double step = up ? 0.05 * (50 - g) : -0.08 * (g - 3);
        if (i > 0)
          g = std::clamp(g + step * (1 + proportional * normal(engine)) + pulses_uS * normal(engine), 3.0, 50.0);
        const double read = g + std::hypot(reads_uS, share * g) * normal(engine);
        record.conductance_S.push_back(1e-6 * read);
        record.direction.push_back(up ? Direction::up : Direction::down);
      }
      out.push_back(std::move(record));
    }
    return out;
  }
};

const FittedNumber* number_of(const PulseFit& fit, const std::string& name) {
  const auto own =
      std::find_if(fit.intervals.begin(), fit.intervals.end(), [&](const auto& n) { return n.name == name; });
  return own == fit.intervals.end() ? nullptr : &*own;
}

bool holds(const FittedNumber& n, double value) { return !(n.low && value < *n.low) && !(n.high && value > *n.high); }

/// Misses of g_min and g_max over cells, by a model.
int missed_bounds(const SimulatedCell& cell, int n, int cells, unsigned first,
                  const std::string& model = "linear_step") {
  int missed = 0;
  for (int k = 0; k < cells; ++k) {
    const std::vector<PulseRecord> records = cell.measure(n, 2, first + static_cast<unsigned>(k));
    PulseFit fit = fit_records(records, model);
    add_intervals(fit, records);
    missed += holds(*number_of(fit, "g_min"), 3e-6) ? 0 : 1;
    missed += holds(*number_of(fit, "g_max"), 50e-6) ? 0 : 1;
  }
  return missed;
}

}  // namespace

TEST_CASE("noise of pulses of one size everywhere is found, of each direction", "[devices]") {
  SimulatedCell cell;
  cell.pulses_uS = 0.35;
  const std::vector<PulseRecord> records = cell.measure(150, 2, 11);
  PulseFit fit = fit_records(records, "linear_step");
  REQUIRE(fit.likelihood.kind.floor);
  add_intervals(fit, records);
  // Of the pulse in the middle: 5 and 8 % of 23.5 uS.
  const double up = 0.35 / 1.175, down = 0.35 / 1.88;
  REQUIRE(number_of(fit, "update_noise_floor_up") != nullptr);
  // A spread of 300 pulses is known to 1/sqrt(600) = 4 %, with noise of reads half as well; its pulse to 3 %: four of them.
  CHECK(number_of(fit, "update_noise_floor_up")->value == Approx(up).epsilon(0.35));
  CHECK(number_of(fit, "update_noise_floor_down")->value == Approx(down).epsilon(0.35));
  CHECK(fit.spec.update_noise_floor ==
        Approx(std::hypot(fit.likelihood.noise.floor_up, fit.likelihood.noise.floor_down) / std::sqrt(2.0)));
  CHECK(holds(*number_of(fit, "g_max"), 50e-6));
}

TEST_CASE("noise of reads that grows with the conductance is found", "[devices]") {
  SimulatedCell cell;
  cell.reads_uS = 0.01;
  cell.share = 0.02;
  const std::vector<PulseRecord> records = cell.measure(150, 2, 5);
  const PulseFit fit = fit_records(records, "soft_bounds");
  REQUIRE(fit.likelihood.kind.read_share);
  // 600 reads know a spread to 1/sqrt(1200) = 3 %: four of them.
  CHECK(fit.likelihood.noise.read_share == Approx(0.02).epsilon(0.12));
  CHECK(!fit.likelihood.kind.floor);
}

TEST_CASE("noise of pulses that shrinks with them, and white noise, need no other kinds", "[devices]") {
  SimulatedCell cell;
  cell.proportional = 0.3;
  for (const unsigned seed : {1U, 2U, 3U}) {
    // Schwarz's criterion asks for ln 240 more of each number: chance gives it to one record in some hundred.
    CHECK(fit_records(cell.measure(60, 2, seed), "soft_bounds").likelihood.kind == NoiseKind{});
  }
}

TEST_CASE("criteria of a fit are those of the maximum that its intervals met", "[devices]") {
  SimulatedCell cell;
  cell.pulses_uS = 0.35;
  for (const unsigned seed : {21U, 22U, 23U}) {
    const std::vector<PulseRecord> records = cell.measure(40, 1, seed);
    PulseFit fit = fit_records(records, "linear_step");
    const double before = fit.likelihood.deviance;
    const Eigen::VectorXd place = fit.likelihood.at;
    add_intervals(fit, records);
    CHECK(fit.likelihood.deviance <= before);
    LikelihoodFit moved = fit.likelihood;
    moved.deviance = 1e9;
    renew_criteria(moved, records);
    // A search that begins there ends within its own tolerance of what the fit says.
    CHECK(fit.likelihood.deviance <= moved.deviance + 0.1);
  }
}

TEST_CASE("bounds of cells with noise of one size are held", "[devices]") {
  SimulatedCell cell;
  cell.pulses_uS = 0.35;
  // Of 12 intervals at 5 % more than 3 miss once in 450; that noise alone missed 10 of 12 when it was taken for noise of each pulse.
  CHECK(missed_bounds(cell, 150, 6, 100) <= 3);
}

TEST_CASE("bounds of cells with noise of one size, over lengths and sizes", "[devices][slow]") {
  int all = 0;
  for (const char* model : {"soft_bounds", "linear_step"}) {
    for (const int n : {60, 150}) {
      for (const double noise : {0.0, 0.02, 0.1, 0.35}) {
        SimulatedCell cell;
        cell.pulses_uS = noise;
        const int missed = missed_bounds(cell, n, 24, 500, model);
        WARN(fmt::format("{}, {} pulses, noise {} uS: {} of 48 bounds missed", model, n, noise, missed));
        CHECK(missed <= 9);  // of 48 at 5 %, more than 9 miss once in 4000; 16 times here
        all += missed;
      }
    }
  }
  CHECK(all <= 55);  // of 768 at 5 %: 38.4 with a deviation of 6.0, and 2.75 of them
}
