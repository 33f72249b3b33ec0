// SPDX-License-Identifier: Apache-2.0
// Selectors in series with devices: dividers, inverses, and writing through them against the differential equation.
#include "devices/current_curve.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/memristor/memristor.hpp"
#include "sim/base/errors.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

const SelectorSpec transistor{SelectorKind::transistor, 2e4, 0, 0};
const SelectorSpec exponential{SelectorKind::exponential, 0, 0.06, 1e-9};
const SelectorSpec threshold{SelectorKind::threshold, 2e4, 0.4, 0};

}  // namespace

TEST_CASE("a cell with a transistor is a divider of resistances", "[devices]") {
  for (const double g : {1e-7, 1e-5, 1e-3}) {
    CHECK(transistor.cell_S(g, 0.2) == Approx(1 / (1 / g + 2e4)).epsilon(1e-14));
    CHECK(transistor.device_volts(0.7, [g](double v) { return g * v; }) == Approx(0.7 / (1 + 2e4 * g)).epsilon(1e-13));
    CHECK(transistor.cell_current(g, -0.3) == Approx(-0.3 / (1 / g + 2e4)).epsilon(1e-14));
  }
  CHECK(std::isinf(transistor.device_S(1 / 2e4, 0.2)));  // no device conducts more than its transistor
  CHECK(threshold.cell_S(1e-5, 0.39) == 0);
  CHECK(threshold.cell_S(1e-5, 0.41) == transistor.cell_S(1e-5, 0.2));
  CHECK(threshold.device_volts(-0.39, [](double v) { return 1e-5 * v; }) == 0);
}

TEST_CASE("an exponential selector carries the current of its device", "[devices]") {
  for (const double g : {1e-7, 1e-5, 1e-3}) {
    for (const double volts : {-0.9, -0.1, 0.02, 0.5, 1.2}) {
      const double amps = exponential.cell_current(g, volts);
      // Kirchhoff's voltage law: rounding of the root, 2⁻⁵¹ of the cell's voltage, over the shares.
      CHECK(amps / g + 0.06 * std::asinh(amps / 1e-9) == Approx(volts).epsilon(1e-12));
      const double h = 1e-5;
      const double slope = (exponential.cell_current(g, volts + h) - exponential.cell_current(g, volts - h)) / (2 * h);
      // Third derivatives over V₀²: h²/6/V₀² = 5e-9 relative.
      CHECK(exponential.cell_slope(g, volts) == Approx(slope).epsilon(1e-6));
      CHECK(exponential.device_S(exponential.cell_S(g, volts), volts) == Approx(g).epsilon(1e-8));
      const double d = 1e-5 * g;
      const double change = (exponential.cell_S(g + d, volts) - exponential.cell_S(g - d, volts)) / (2 * d);
      CHECK(exponential.cell_sensitivity(g, volts) == Approx(change).epsilon(1e-5));
    }
  }
  CHECK(transistor.cell_sensitivity(1e-5, 0.2) == Approx(1 / (1.2 * 1.2)).epsilon(1e-12));
}

TEST_CASE("vteam is written through its selector as the differential equation in series says", "[devices]") {
  for (const SelectorSpec& selector : {transistor, exponential}) {
    DeviceSpec spec;
    spec.model = "vteam";
    spec.pulses = 200;
    spec.g_min_S = 1e-6;
    spec.g_max_S = 25e-6;
    spec.shape = {{"pulse_up", 1.4}, {"pulse_down", -1.6}};
    spec.selector = selector;
    const Vteam own = vteam_of(spec);
    struct InSeries final : Memristor {
      const Vteam* device = nullptr;
      SelectorSpec selector;
      double rate(double x, double volts) const override {
        // By bisection on the voltage of the device, independent of the library's root.
        double low = 0, high = volts;
        for (int k = 0; k < 200; ++k) {
          const double v = 0.5 * (low + high), amps = device->current(x, v);
          const double rest =
              selector.kind == SelectorKind::transistor ? selector.on_ohm * amps : 0.06 * std::asinh(amps / 1e-9);
          (std::abs(v + rest) > std::abs(volts) ? high : low) = v;
        }
        return device->rate(x, low);
      }
      double current(double /*x*/, double /*volts*/) const override { return 0; }
    } series;
    series.device = &own;
    series.selector = selector;
    for (const bool up : {true, false}) {
      DeviceArray<double> array(spec, 1, 1, {});
      const double g0 = 8e-6;
      array.cells().g(0, 0) = g0;
      array.pulse(Matrix<double>::Constant(1, 1, up ? 4.0 : -4.0), 0);
      const auto state = [&](double g) { return (1 / g - 1e6) / (1 / 25e-6 - 1e6); };
      const double volts = up ? 1.4 : -1.6;
      const auto trace = drive(
          series, state(g0), [=](double) { return volts; }, 4 * spec.shape_value("pulse_width"), 1);
      CHECK(std::abs(trace.state[1] - state(g0)) > 1e-3);  // it moves
      // The table of 4096 cells (memristor_test.cpp), with speeds that change tenfold more across the divider.
      CHECK(std::abs(state(array.conductance()(0, 0)) - trace.state[1]) < 5e-5);
      CHECK(array.pulse_heat().total_J() > 0);
    }
  }
}

TEST_CASE("an exponential selector keeps half-selected cells where they are", "[devices]") {
  DeviceSpec spec;
  spec.model = "vteam";
  spec.g_min_S = 1e-6;
  spec.shape = {{"threshold_up", 0.2}, {"pulse_up", 1}};
  spec.lines.bias = WriteBias::half;
  const auto moved = [&](const DeviceSpec& one) {
    DeviceArray<double> array(one, 3, 3, {});
    array.cells().g.setConstant(5e-6);
    array.pulse(std::vector<Index>{4}, Matrix<double>::Ones(1, 1), 0);
    return std::abs(array.conductance()(1, 0) - 5e-6);
  };
  CHECK(moved(spec) > 1e-9);
  spec.selector = {SelectorKind::exponential, 0, 0.07, 1e-9};
  spec.shape["pulse_up"] = 1.4;  // more, for what the selector takes
  spec.shape["pulse_down"] = -1.4;
  // At 0.7 V a device of 5 µS carries I with I/g + V₀ asinh(I/I₀) = 0.7: less than 0.2 V of it, below the threshold.
  CHECK(spec.selector.cell_current(5e-6, 0.7) / 5e-6 < 0.2);
  CHECK(moved(spec) == 0);
}

TEST_CASE("a selector and a curve exclude each other", "[devices]") {
  DeviceSpec spec;
  spec.selector.kind = SelectorKind::transistor;
  CHECK_NOTHROW(spec.validate());
  spec.curve.cubic_per_V2 = 1;
  CHECK_THROWS_WITH(spec.validate(), Contains("iv_sinh"));
}
