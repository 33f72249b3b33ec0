// SPDX-License-Identifier: Apache-2.0
// Many measured devices: reading them, and finding the population that they were drawn from.
#include <fmt/format.h>

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/device_config.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "sim/base/errors.hpp"
#include "sim/config/config.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Pulses up and down over all devices of an array at once, from their lower bounds, `cycles` times.
std::vector<LabRecord> measured(const DeviceSpec& spec, Index devices, int cycles, int pulses) {
  std::vector<LabRecord> records;
  DeviceArray<double> array(spec, 1, devices, {5, 0, 0}, 1);
  std::uint64_t step = 0;
  for (int c = 0; c < cycles; ++c) {
    array.cells().g = array.cells().lower;
    std::vector<LabRecord> cycle;
    for (Index d = 0; d < devices; ++d) {
      cycle.push_back({fmt::format("d{}", d), fmt::format("{}", c), {{array.conductance()(0, d)}, {Direction::up}}});
    }
    for (int i = 0; i < 2 * pulses; ++i) {
      const double s = spec.window_S() / spec.pulses;
      array.update(Matrix<double>::Ones(1, devices), i < pulses ? s : -s, step++);
      for (Index d = 0; d < devices; ++d) {
        PulseRecord& record = cycle[static_cast<std::size_t>(d)].pulses;
        record.conductance_S.push_back(array.conductance()(0, d));
        record.direction.push_back(i < pulses ? Direction::up : Direction::down);
      }
    }
    records.insert(records.end(), cycle.begin(), cycle.end());
  }
  return records;
}

DeviceSpec wafer() {
  DeviceSpec spec;
  spec.model = "linear_step";
  spec.shape = {{"gamma_up", 0.3}, {"gamma_down", 0.3}};
  spec.g_min_S = 5e-6;
  spec.g_max_S = 25e-6;
  spec.pulses = 80;
  spec.step_spread = 0.1;
  spec.upper_bound_spread = 0.08;
  spec.lower_bound_spread = 0.05;
  return spec;
}

std::string csv(const std::vector<LabRecord>& records, const std::string& unit, double scale) {
  std::string text = fmt::format("device,cycle,pulse,conductance{},direction\n", unit);
  for (const LabRecord& r : records) {
    for (std::size_t i = 0; i < r.pulses.conductance_S.size(); ++i) {
      text += fmt::format("{},{},{},{},{}\n", r.device, r.cycle, i, scale * r.pulses.conductance_S[i],
                          r.pulses.direction[i] == Direction::up ? "up" : "down");
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the population that measured devices came from is found again", "[devices]") {
  const DeviceSpec made = wafer();
  constexpr Index devices = 24;
  const PopulationFit fit = fit_population(measured(made, devices, 1, 120), "linear_step");
  CHECK(fit.devices == devices);
  // 120 pulses of 1/80 and more of the window reach both bounds: each device's are found to rounding. Estimates then lie within four
  // standard errors of what the devices were drawn with: s/√(2n) for a deviation, s/√n for a mean.
  const double four = 4 / std::sqrt(2.0 * devices);
  CHECK(fit.g_max_S.deviation == Approx(0.08 * 10e-6).epsilon(four));
  CHECK(fit.g_min_S.deviation == Approx(0.05 * 10e-6).epsilon(four));
  CHECK(fit.g_max_S.mean == Approx(25e-6).margin(4 * 0.08 * 10e-6 / std::sqrt(double(devices))));
  CHECK(std::isnan(fit.repeat));
  // The joint covariance is the sample's, of coordinates that are logarithms: spread of the bound over the bound, of the pulse over itself.
  const DeviceSpec& spec = fit.common.spec;
  const std::vector<double>& c = spec.joint_covariance;
  REQUIRE(c.size() == 36);
  CHECK(std::sqrt(c[0]) == Approx(0.08 * 10e-6 / 25e-6).epsilon(four + 0.05));
  // step_spread is drawn for both directions at once: they vary together. The wafer's pulses are at one reference, 15 uS, as the fit's.
  CHECK(std::sqrt(c[14]) == Approx(0.1).epsilon(four + 0.1));
  CHECK(c[15] / std::sqrt(c[14] * c[21]) > 0.8);
  CHECK(std::abs(c[2]) / std::sqrt(c[0] * c[14]) < 4 / std::sqrt(double(devices)));  // drawn independently
  CHECK(spec.g_reference_S() == Approx(15e-6).epsilon(0.02));
  // What the table says is what a config reads, and what devices are drawn from.
  const ConfigSchema schema{device_param_rows(), {}, {}};
  const DeviceSpec read = device_spec(parse_config(schema, "fit", fit_toml(fit, "lab.csv"), {}));
  CHECK(read.joint_covariance == spec.joint_covariance);
}

TEST_CASE("cycles of one device give its repeatability, and no spread between devices", "[devices]") {
  DeviceSpec made = wafer();
  made.step_spread = made.upper_bound_spread = made.lower_bound_spread = 0;
  made.update_noise = 0.5;
  const PopulationFit fit = fit_population(measured(made, 4, 6, 30), "linear_step");
  CHECK(fit.devices == 4);
  CHECK(fit.records == 24);
  // After k noisy pulses a device stands 0.5 √k pulses of 1/80 of the window from where it would; the slope of the steps, 2·0.3/80
  // per pulse, pulls back less than half of that over 60 pulses. 20 degrees of freedom know a deviation to 16 %, less as single walks
  // count as one: a third more is allowed.
  const double free = 0.5 / 80 * std::sqrt(30.5) * made.window_S();  // rms over k = 1..60
  const double found = fit.repeat * (fit.g_max_S.mean - fit.g_min_S.mean);
  CHECK(found < 1.33 * free);
  CHECK(found > 0.5 * free);
  CHECK(fit.common.spec.programming_error == fit.repeat);
}

TEST_CASE("a laboratory's file: devices, cycles, units in the column's name, and a unit that was forgotten",
          "[devices]") {
  const auto records = measured(wafer(), 3, 2, 20);
  const auto read = parse_lab_csv(csv(records, "_uS", 1e6), "lab.csv");
  REQUIRE(read.size() == 6);
  CHECK(read[4].device == "d1");
  CHECK(read[4].cycle == "1");
  CHECK(read[4].pulses.conductance_S[7] == Approx(records[4].pulses.conductance_S[7]).epsilon(1e-12));
  CHECK_THROWS_WITH(parse_lab_csv(csv(records, "", 1e6), "lab.csv"),
                    Contains("lab.csv:2: conductance") && Contains("did you mean") && Contains("uS"));
  CHECK_THROWS_WITH(parse_lab_csv("device,pulse,conductanc,direction\n", "lab.csv"),
                    Contains("unknown column \"conductanc\"") && Contains("conductance"));
  // A gap within one device's record, while the other's is whole.
  CHECK_THROWS_WITH(parse_lab_csv("device,pulse,G_uS,direction\na,0,1,\nb,0,1,\na,1,2,up\na,3,3,up\n", "lab.csv"),
                    Contains("lab.csv:5: pulse 3 follows pulse 1"));
  CHECK_THROWS_WITH(parse_lab_csv("device,pulse,G_uS,direction\na,0,1,\na,1,2,up\n", "lab.csv"),
                    Contains("device a") && Contains("at least 2 of each"));
}
