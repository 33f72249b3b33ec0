// SPDX-License-Identifier: Apache-2.0
// Pulses of one device without an array around it: the same as in an array. Fits that stop for time.
#include <cmath>
#include <limits>

#include "devices/device_array.hpp"
#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/fit_watch.hpp"
#include "devices/fit/pulse_law.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

DeviceSpec tilted(const std::string& model) {
  DeviceSpec spec;
  spec.model = model;
  spec.g_min_S = 3e-6;
  spec.g_max_S = 23e-6;
  spec.pulses = 25;
  spec.reference = 0.4;
  spec.reference_pulse = 1.3;
  spec.asymmetry = 0.35;
  if (model == "piecewise") {
    spec.tables = {{"up", {1.5, 0.2, 0, 0.9, 0.7}}, {"down", {0.5, 0.6, 1.9, 0.1, 1.5}}};
  }
  if (model == "exponential_step") {
    spec.shape = {{"A_up", 0.3}, {"A_down", 0.2}, {"gamma_up", 2}, {"gamma_down", 3}, {"a", 0.5}, {"b", 0.1}};
  }
  return spec;
}

}  // namespace

TEST_CASE("pulses of single devices are those of an array, in every model that fits know", "[devices]") {
  for (const std::string& model : fitted_models()) {
    if (has_volts(model)) continue;
    CAPTURE(model);
    const DeviceSpec spec = tilted(model);
    const PulseLaw law(spec);
    const PulseRecord two{{0, 0, 0}, {Direction::up, Direction::up, Direction::down}};
    for (int k = 0; k <= 200; ++k) {
      const double g = spec.g_min_S + spec.window_S() * k / 200.0;
      for (const std::size_t pulse : {1, 2}) {
        DeviceArray<double> array(spec, 1, 1, {1, 0, 0}, 1);
        array.cells().g(0, 0) = g;
        const double step = spec.window_S() / spec.pulses;
        array.update(Matrix<double>::Ones(1, 1), pulse == 1 ? step : -step, 0);
        PulseLaw::Places to{g, g, g};
        law.move(two, pulse, to);
        // Rounding of formulas in another order: some 10 units of 2e-16 of the largest conductance.
        CHECK(to[1] == Approx(array.cells().g(0, 0)).margin(1e-14 * spec.g_max_S).epsilon(0));
      }
    }
  }
}

TEST_CASE("fits whose time is over stop, and count what they did", "[devices]") {
  std::vector<LabRecord> records;
  for (int device = 0; device < 3; ++device) {
    LabRecord record;
    record.device = std::to_string(device);
    double g = 2e-6;
    for (int i = 0; i <= 40; ++i) {
      if (i > 0) g += i <= 20 ? 0.1 * (12e-6 + 1e-6 * device - g) : -0.08 * (g - 1e-6);
      record.pulses.conductance_S.push_back(g);
      record.pulses.direction.push_back(i <= 20 ? Direction::up : Direction::down);
    }
    records.push_back(record);
  }
  begin_fit_stage(3);
  {
    const FitWatch watch(std::numeric_limits<double>::infinity());
    PopulationFit fit = fit_population(records, "soft_bounds");
    CHECK(FitWatch::reached() == "3 of 3 devices");
    add_intervals(fit, records);
    CHECK(!fit.common.intervals.empty());
  }
  PopulationFit fit = fit_population(records, "soft_bounds");
  const FitWatch watch(1e-9);
  CHECK_THROWS_AS(add_intervals(fit, records), FitTimeOver);
  CHECK(FitWatch::reached() == "0 of 3 devices");
  CHECK_THROWS_AS(fit_population(records, "soft_bounds"), FitTimeOver);
}
