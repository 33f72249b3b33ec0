// SPDX-License-Identifier: Apache-2.0
// Models of voltages, fitted to pulses of several amplitudes.
#include <fmt/format.h>

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_law.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

DeviceSpec memristor(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 5e-6;
  spec.g_max_S = 50e-6;
  if (model == "vteam") {
    spec.shape = {{"threshold_up", 0.5}, {"threshold_down", -0.6}, {"k_up", 1e5}, {"k_down", 2e5},
                  {"alpha_up", 2},       {"alpha_down", 1.5},      {"window", 1}};
  }
  return spec;
}

/// Ladders of three amplitudes up and down, three times, read with noise.
PulseRecord ladders(const DeviceSpec& spec, double noise_S) {
  PulseLaw law(spec);
  PulseRecord record{{8e-6}, {Direction::up}, {0}, {0}};
  std::vector<double> draws(1000);
  fill_normal<double>({3, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  PulseLaw::Places g{};
  g.fill(8e-6);
  for (int cycle = 0; cycle < 3; ++cycle) {
    for (int k = 0; k < 120; ++k) {
      const double sign = k < 60 ? 1 : -1;
      record.direction.push_back(sign > 0 ? Direction::up : Direction::down);
      record.volts.push_back(sign * (0.9 + 0.15 * (k / 20 % 3)));
      record.width_s.push_back(1e-7);
      record.conductance_S.push_back(0);
      law.move(record, record.volts.size() - 1, g);
      record.conductance_S.back() = g[0] + noise_S * draws[record.volts.size()];
    }
  }
  return record;
}

}  // namespace

TEST_CASE("pulses with volts: the fit's motion is that of the device", "[devices]") {
  for (const std::string model : {"vteam", "yakopcic"}) {
    CAPTURE(model);
    DeviceSpec spec = memristor(model);
    spec.update = PulseMode::continuous;
    PulseLaw law(spec);
    DeviceArray<double> device(spec, 1, 1, {}, 1);
    device.cells().g(0, 0) = 12e-6;
    const double width = spec.shape_value("pulse_width");
    PulseRecord one{{0, 0, 0},
                    {Direction::up, Direction::up, Direction::down},
                    {0, spec.shape_value("pulse_up"), spec.shape_value("pulse_down")},
                    {0, width, width}};
    PulseLaw::Places g{};
    g.fill(12e-6);
    for (const std::size_t i : {1, 1, 1, 2, 1, 2, 2}) {
      law.move(one, i, g);
      const double s = device.cells().mean_step;
      device.update(Matrix<double>::Ones(1, 1), i == 1 ? s : -s, 0);
    }
    // The device's table is off by at most 1/8 of (1/4096)² per cell and a pulse's 1/(2·4096) of itself: 1e-4.
    CHECK(g[0] == Approx(device.conductance()(0, 0)).epsilon(1e-4));
  }
}

TEST_CASE("pulses with volts: VTEAM is found again", "[devices]") {
  const DeviceSpec made = memristor("vteam");
  const PulseRecord record = ladders(made, 0.2e-6);
  const PulseFit fit = fit_records({record}, "vteam");
  // The replayed curve is nearer than the noise of reads, 0.2 of some 40 uS, by √(11 numbers/360 reads); a tenth of the noise more is allowed.
  CHECK(fit.curve_residual < 1.1 * 0.2e-6 / range_of({record}).size());
  // What ladders of three amplitudes say best is how fast each goes: (v/v_th − 1)^α k, within 10 % (360 reads, each step several times the noise).
  for (const double volts : {0.9, 1.05, 1.2}) {
    const auto speed = [volts](const DeviceSpec& s) {
      return s.shape_value("k_up") * std::pow(volts / s.shape_value("threshold_up") - 1, s.shape_value("alpha_up"));
    };
    CAPTURE(volts);
    CHECK(speed(fit.spec) == Approx(speed(made)).epsilon(0.1));
  }
  CHECK(fit.spec.shape_value("window") == Approx(1).epsilon(0.15));
  const PulseFit other = fit_records({record}, "soft_bounds");  // knows no volts
  CHECK(other.likelihood.akaike() > fit.likelihood.akaike());
  PulseRecord bare = record;
  bare.volts.clear();
  CHECK_THROWS_WITH(fit_records({bare}, "vteam"), Contains("voltage_V and width_s"));
}

TEST_CASE("pulse CSV: voltage and width", "[devices]") {
  const PulseRecord read =
      parse_lab_csv(
          "pulse,conductance_uS,voltage_mV,width_ns\n0,1,,\n1,2,900,100\n2,3,1.1 V,1 us\n3,2,-800,100\n4,1,-800,100\n",
          "v.csv")
          .at(0)
          .pulses;
  CHECK(read.volts == std::vector<double>{0, 0.9, 1.1, -0.8, -0.8});
  CHECK(read.width_s[2] == 1e-6);
  CHECK(read.direction[3] == Direction::down);
  const auto problem = [](const std::string& text) {
    try {
      parse_lab_csv(text, "v.csv");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  // Volts without a width are directions alone; a model of voltages asks for both.
  const std::vector<LabRecord> signs =
      parse_lab_csv("pulse,conductance_uS,voltage_V\n0,1,\n1,2,1\n2,3,1\n3,2,-1\n4,1,-1\n", "v.csv");
  CHECK(signs.at(0).pulses.volts.empty());
  CHECK(signs.at(0).pulses.direction[3] == Direction::down);
  CHECK_THROWS_WITH(fit_records({signs[0].pulses}, "vteam"), Contains("voltage_V and width_s"));
  const std::string head = "pulse,conductance_uS,voltage_V,width_s\n0,1,,\n";
  CHECK_THAT(problem(head + "1,2,0,1e-7\n"), Contains("no pulse"));
  CHECK_THAT(problem(head + "1,2,1,-1e-7\n"), Contains("v.csv:3: width -1e-07 s"));
  CHECK_THAT(problem(head + "1,2,nan,1e-7\n"), Contains("v.csv:3: voltage \"nan\""));
}
