// SPDX-License-Identifier: Apache-2.0
// Measured pulses: reading them, refusing bad ones, and finding the device that made them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// 150 pulses up and 150 down of a device, with noise of single pulses.
PulseRecord measured(const DeviceSpec& spec) {
  DeviceArray<double> device(spec, 1, 1, {5, 0, 0}, 1);
  device.cells().g(0, 0) = spec.g_min_S;
  PulseRecord record{{spec.g_min_S}, {Direction::up}};
  for (std::uint64_t i = 0; i < 300; ++i) {
    const double s = spec.window_S() / spec.pulses;
    device.update(Matrix<double>::Ones(1, 1), i < 150 ? s : -s, i);
    record.conductance_S.push_back(device.conductance()(0, 0));
    record.direction.push_back(i < 150 ? Direction::up : Direction::down);
  }
  return record;
}

DeviceSpec maker(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.pulses = 60;
  spec.asymmetry = 0.3;
  return spec;
}

std::string csv(const PulseRecord& record) {
  std::string text = "# measured on a prober\npulse,conductance,direction\n";
  for (std::size_t i = 0; i < record.conductance_S.size(); ++i) {
    text += fmt::format("{},{},{}\n", i, record.conductance_S[i], record.direction[i] == Direction::up ? "up" : "down");
  }
  return text;
}

}  // namespace

TEST_CASE("fit: the device that made the pulses is found again", "[devices]") {
  DeviceSpec linear = maker("linear_step");
  linear.shape = {{"gamma_up", 0.4}, {"gamma_down", 0.7}};
  const PulseFit fit = fit_records({measured(linear)}, "linear_step");
  // Noise-free steps whose window is the range of the record, exactly the device's: pulses reach both bounds. Large pulses
  // (1/60 of the window) are the recursion itself, so only rounding is left; 1 % allowed.
  CHECK(fit.spec.shape_value("gamma_up") == Approx(0.4).margin(0.01));
  CHECK(fit.spec.shape_value("gamma_down") == Approx(0.7).margin(0.01));
  CHECK(fit.spec.pulses == Approx(60).epsilon(0.01));
  CHECK(fit.spec.asymmetry == Approx(0.3).margin(0.01));
  CHECK(fit.curve_residual < 0.01);

  DeviceSpec soft = maker("soft_bounds");
  const PulseFit again = fit_records({measured(soft)}, "soft_bounds");
  // 150 pulses up to within exp(-5) of the bound: the window of the record is 0.7 % short.
  CHECK(again.spec.pulses == Approx(60).epsilon(0.02));
  CHECK(again.spec.asymmetry == Approx(0.3).margin(0.03));
  CHECK(again.curve_residual < 0.01);

  DeviceSpec exponential = maker("exponential_step");
  exponential.shape = {{"A_up", 0.3}, {"A_down", 0.2}, {"gamma_up", 1.5}, {"gamma_down", 2.5}, {"a", 0.5}, {"b", 0}};
  // A grid of 60 values of gamma over a factor of 400 is 10 % apart: curves within some 1 %.
  CHECK(fit_records({measured(exponential)}, "exponential_step").curve_residual < 0.02);
}

TEST_CASE("fit: tables describe any device, noise becomes update noise, the config is usable", "[devices]") {
  DeviceSpec label = maker("label_curve");
  label.shape = {{"label_up", 2.4}, {"label_down", -4.88}};
  const PulseRecord record = measured(label);
  const PulseFit table = fit_records({record}, "piecewise", 17);
  CHECK(table.curve_residual < 0.02);
  CHECK(fit_records({record}, "soft_bounds").curve_residual > table.curve_residual);
  CHECK(table.step_residual < 0.1);

  // A device whose noise is a share of each pulse, as a table's: the label curve's is not, and half of it goes to slow noise of reads.
  DeviceSpec line = maker("linear_step");
  line.shape = {{"gamma_up", 0.4}, {"gamma_down", 0.7}};
  line.update_noise = 0.5;
  line.update = PulseMode::pulsed;
  const PulseFit noisy = fit_records({measured(line)}, "piecewise");
  // Single steps scatter by 0.5/60 of the window up and 0.7 times that down; up to 250 steps: 5 standard errors are 22 %.
  const double scatter = noisy.spec.update_noise / noisy.spec.pulses;
  CHECK(scatter > 0.78 * 0.7 * 0.5 / 60);
  CHECK(scatter < 1.22 * 0.5 / 60);

  ConfigSchema schema;
  schema.table = device_param_rows();
  const DeviceSpec read = device_spec(parse_config(schema, "fit.toml", fit_toml(noisy, "pulses.csv")));
  CHECK(read.model == "piecewise");
  CHECK(read.tables == noisy.spec.tables);
  CHECK(read.g_max_S == noisy.spec.g_max_S);
  CHECK(read.update == PulseMode::pulsed);
  CHECK_THROWS_WITH(fit_records({record}, "picewise"), Contains("did you mean piecewise?"));
}

/// A record read with white noise of this standard deviation, of the window, 1000 pulses up and 1000 down.
PulseRecord read_with(DeviceSpec spec, double noise) {
  spec.pulses = 400;
  DeviceArray<double> device(spec, 1, 1, {5, 0, 0}, 1);
  device.cells().g(0, 0) = spec.g_min_S;
  PulseRecord record{{}, {}};
  std::vector<double> draws(2001);
  fill_normal<double>({3, Purpose::probe, 0}, 0, 0, std::span<double>(draws));
  for (std::uint64_t i = 0; i <= 2000; ++i) {
    const double s = spec.window_S() / spec.pulses;
    if (i > 0) device.update(Matrix<double>::Ones(1, 1), i <= 1000 ? s : -s, i);
    record.conductance_S.push_back(device.conductance()(0, 0) + noise * spec.window_S() * draws[i]);
    record.direction.push_back(i <= 1000 ? Direction::up : Direction::down);
  }
  return record;
}

TEST_CASE("fit: noise of reads is neither noise of pulses nor a wider window", "[devices]") {
  DeviceSpec spec = maker("soft_bounds");
  spec.g_min_S = 5e-6;  // below it there is room for noise
  spec.g_max_S = 25e-6;
  for (const double noise : {0.0, 0.01, 0.03, 0.05}) {
    CAPTURE(noise);
    const PulseRecord record = read_with(spec, noise);
    const PulseFit fit = fit_records({record}, "soft_bounds");
    const auto [low, high] = std::minmax_element(record.conductance_S.begin(), record.conductance_S.end());
    const double range = (*high - *low) / spec.window_S();
    // 2000 reads: the noise is known to 1/√4000 = 1.6 %, five of them; what is not noise is a share of 1e-3.
    CHECK(fit.curve_residual * range == Approx(noise).epsilon(0.08).margin(1e-3));
    CHECK(fit.read_noise * range == Approx(noise).epsilon(0.15).margin(1e-3));
    if (noise > 0) CHECK(std::abs(fit.autocorrelation) < 0.15);  // else of rounding
    // Parameters behind noise of 5 % and 2000 reads are known to about 5 %/√2000 of their effect, some tenths of a percent; 5 % allowed.
    CHECK(fit.spec.g_min_S == Approx(spec.g_min_S).margin(0.05 * spec.window_S()));
    CHECK(fit.spec.g_max_S == Approx(spec.g_max_S).margin(0.05 * spec.window_S()));
    CHECK(fit.spec.window_S() / fit.spec.pulses == Approx(spec.window_S() / 400).epsilon(0.1));
    // Noise of pulses of the size of a pulse would carry a record 45 pulses away in 2000.
    CHECK(fit.spec.update_noise * fit.spec.window_S() / fit.spec.pulses <
          std::max(0.5 * noise, 1e-3) * spec.window_S());
    CHECK(fit.curve_residual < 0.5 * fit.mean_residual);
  }
}

TEST_CASE("fit: a record without a curve leaves what a horizontal line leaves", "[devices]") {
  PulseRecord record;
  std::vector<double> draws(401);
  fill_normal<double>({3, Purpose::probe, 1}, 0, 0, std::span<double>(draws));
  for (std::size_t i = 0; i < draws.size(); ++i) {
    record.conductance_S.push_back(10e-6 + 1e-6 * draws[i]);
    record.direction.push_back(i <= 200 ? Direction::up : Direction::down);
  }
  const PulseFit fit = fit_records({record}, "piecewise");
  CHECK(fit.curve_residual > 0.85 * fit.mean_residual);
  CHECK(fit.read_noise == Approx(fit.mean_residual).epsilon(0.2));
}

TEST_CASE("pulse CSV: columns, units, comments", "[devices]") {
  const PulseRecord record = measured(maker("soft_bounds"));
  const PulseRecord read = parse_lab_csv(csv(record), "p.csv").at(0).pulses;
  CHECK(read.conductance_S == record.conductance_S);
  CHECK(read.direction == record.direction);
  const PulseRecord units =
      parse_lab_csv(
          "direction, conductance_S, pulse\r\n,1 uS,7\nup,\"2 uS\",8\n+1,3e-6,9\n\ndown,2.5uS,10\n-1,2 uS,11\n",
          "p.csv")
          .at(0)
          .pulses;
  REQUIRE(units.pulses() == 4);
  CHECK(units.conductance_S[0] == 1e-6);
  CHECK(units.conductance_S[3] == 2.5e-6);
  CHECK(units.direction[4] == Direction::down);
}

TEST_CASE("pulse CSV: what is wrong, with file and line", "[devices]") {
  const std::string head = "pulse,conductance,direction\n0,1e-6,up\n1,2e-6,up\n2,3e-6,up\n";
  const auto problem = [&](const std::string& rest) {
    try {
      parse_lab_csv(head + rest, "p.csv");
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(problem("4,2e-6,down\n"), Contains("p.csv:5: pulse 4 follows pulse 2 (a gap"));
  CHECK_THAT(problem("2,2e-6,down\n"), Contains("p.csv:5: pulse 2 follows pulse 2 (not increasing"));
  CHECK_THAT(problem("3,nan,down\n"), Contains("2 pulses up and 0 down"));  // a missing reading
  CHECK_THAT(problem("3,2 V,down\n"), Contains("p.csv:5: conductance \"2 V\"") && Contains("S"));
  CHECK_THAT(problem("3,-2e-6,down\n"), Contains("p.csv:5: conductance -2e-06 S is negative"));
  CHECK_THAT(problem("3,2e-6,sideways\n"), Contains("p.csv:5: direction \"sideways\" must be up or down"));
  CHECK_THAT(problem("3,2e-6\n"), Contains("p.csv:5: 2 cells, the header has 3"));
  CHECK_THAT(problem("3.5,2e-6,down\n"), Contains("p.csv:5: pulse \"3.5\" is not a whole number"));
  CHECK_THAT(problem("3,2e-6,down\n"), Contains("at least 2 of each"));
  CHECK_THROWS_WITH(parse_lab_csv("", "p.csv"), Contains("p.csv: empty"));
  CHECK_THROWS_WITH(parse_lab_csv("pusle,conductance,direction\n", "p.csv"), Contains("did you mean pulse?"));
  CHECK_THROWS_WITH(parse_lab_csv("pulse,conductance\n", "p.csv"), Contains("\"direction\" is missing"));
  CHECK_THROWS_WITH(read_lab_csv("no/such/file.csv"), Contains("cannot be read"));
  PulseRecord flat{{1e-6, 1e-6, 1e-6, 1e-6, 1e-6}, {}};
  flat.direction = {Direction::up, Direction::up, Direction::up, Direction::down, Direction::down};
  CHECK_THROWS_WITH(fit_records({flat}, "linear_step"), Contains("never changes"));
}
