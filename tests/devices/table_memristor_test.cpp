// SPDX-License-Identifier: Apache-2.0
// Memristors given by tables against the differential equations that the tables were evaluated from.
#include "devices/memristor/memristor.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/device_array.hpp"
#include "sim/base/errors.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

DeviceSpec vteam_spec() {
  DeviceSpec spec;
  spec.model = "vteam";
  spec.g_min_S = 1e-6;
  spec.g_max_S = 20e-6;
  spec.pulses = 200;
  return spec;
}

void evaluate(const Memristor& m, StateTable& t) {
  t.rate.clear();
  t.current_A.clear();
  for (const double v : t.volts) {
    for (const double x : t.states) {
      t.rate.push_back(m.rate(x, v));
      t.current_A.push_back(m.current(x, v));
    }
  }
}

/// A memristor evaluated at these voltages and so many states, first equally spaced and then at equal steps of the conductance.
StateTable evaluated(const Memristor& m, std::vector<double> volts, int states) {
  StateTable t;
  t.volts = std::move(volts);
  for (int k = 0; k < states; ++k) t.states.push_back(static_cast<double>(k) / (states - 1));
  evaluate(m, t);
  for (int pass = 0; pass < 3; ++pass) {
    t.states = even_states(t, 0.1);
    evaluate(m, t);
  }
  return t;
}

}  // namespace

TEST_CASE("vteam as a table moves as vteam does", "[devices]") {
  DeviceSpec own = vteam_spec();
  const StateTable t = evaluated(vteam_of(own), {-1, -0.5, 0, 0.1, 0.5, 1}, 257);
  DeviceSpec spec = tabulated_device(t, 0.1, 257);
  CHECK(spec.g_min_S == Approx(1e-6).epsilon(1e-12));
  CHECK(spec.g_max_S == Approx(20e-6).epsilon(1e-12));
  spec.pulses = own.pulses;
  spec.shape = {{"pulse_up", 1}, {"pulse_down", -1}, {"pulse_width", own.shape_value("pulse_width")}};
  CHECK_NOTHROW(spec.validate());
  for (const double g0 : {1.5e-6, 6e-6, 15e-6}) {
    for (const int n : {1, 20, 150}) {
      for (const bool up : {true, false}) {
        DeviceArray<double> exact(own, 1, 1, {}), table(spec, 1, 1, {});
        exact.cells().g(0, 0) = table.cells().g(0, 0) = g0;
        const Matrix<double> counts = Matrix<double>::Constant(1, 1, up ? n : -n);
        exact.pulse(counts, 0);
        table.pulse(counts, 0);
        // g(x) = b/(a - x) at steps h = window/256: the slope of a parabola is off by (h/g)^2, and speeds in g, which go as g^2 times x or
        // 1 - x, by (h/2g)^2/x or (h/2g)^2/(1 - x) between two points; most at the least g on the way. Beside it a cell of either table of the
        // motion (memristor.hpp): k/2 cells of a pulse with speeds that change e^k over the window, k < 8.
        const double after = exact.conductance()(0, 0), way = std::abs(after - g0), h = own.window_S() / 256;
        const double x = (1 / g0 - 1e6) / (1 / 20e-6 - 1e6), ahead = up ? 1 - x : x;
        const double off =
            std::pow(h / std::min(g0, after), 2) * (1 + 0.25 / ahead) + 8.0 / ConstantVoltageMotion::cells;
        CHECK(std::abs(table.conductance()(0, 0) - after) < off * way);
        CHECK((table.conductance()(0, 0) - g0) * (up ? 1 : -1) > 0);
      }
    }
  }
}

TEST_CASE("yakopcic as a table: its conductance is linear in the state, so pulses agree to the table's cells",
          "[devices]") {
  DeviceSpec own;
  own.model = "yakopcic";
  own.g_min_S = 0;
  own.g_max_S = 10e-6;
  own.pulses = 200;
  DeviceSpec spec = tabulated_device(evaluated(yakopcic_of(own), {-0.5, -0.3, 0, 0.1, 0.3, 0.5}, 201), 0.1, 201);
  spec.pulses = own.pulses;
  spec.shape = {{"pulse_up", 0.5}, {"pulse_down", -0.5}, {"pulse_width", own.shape_value("pulse_width")}};
  for (const double g0 : {1e-6, 5e-6, 9e-6}) {
    for (const bool up : {true, false}) {
      DeviceArray<double> exact(own, 1, 1, {}), table(spec, 1, 1, {});
      exact.cells().g(0, 0) = table.cells().g(0, 0) = g0;
      const Matrix<double> counts = Matrix<double>::Constant(1, 1, up ? 40.0 : -40.0);
      exact.pulse(counts, 0);
      table.pulse(counts, 0);
      // Speeds linear between 201 states: alpha = 5 and a kink at x_up, x_down: below (1/200)² 25/8 and, at the kinks, 1/200 · 5/8 of the
      // speed in one cell: 1e-4 of the way.
      CHECK(table.conductance()(0, 0) == Approx(exact.conductance()(0, 0)).epsilon(1e-3));
    }
  }
}

TEST_CASE("between voltages speeds are exponential and currents linear", "[devices]") {
  TableMemristor m;
  m.volts = {-1, 0, 1, 2};
  m.states = 2;
  m.rate_Hz = {-8, -4, 0, 0, 1, 2, 100, 200};
  m.current_A = {-1, -2, 0, 0, 1, 2, 3, 4};
  CHECK(m.rate(0, 1.5) == Approx(10));    // √(1 · 100)
  CHECK(m.rate(0.5, 1.5) == Approx(15));  // √(1.5 · 150)
  CHECK(m.rate(0, 0.5) == Approx(0.5));   // from 0: linear
  CHECK(m.rate(1, -0.25) == Approx(-1));
  CHECK(m.current(0.5, 1.5) == Approx(2.5));
  CHECK(m.rate(0, 7) == Approx(100));
  CHECK(m.current(1, -7) == -2);
}

TEST_CASE("states that run against the conductance are turned, those that do not show are refused", "[devices]") {
  StateTable t;
  t.volts = {-1, 0, 1};
  t.states = {2, 3, 4};  // a gap that closes the conductance, in units of its own
  for (const double v : t.volts) {
    for (const double x : t.states) {
      t.current_A.push_back(v * (5e-6 - 1e-6 * x));
      t.rate.push_back(-7 * v);
    }
  }
  const DeviceSpec spec = tabulated_device(t, 1, 3);
  CHECK(spec.g_min_S == Approx(1e-6));
  CHECK(spec.g_max_S == Approx(3e-6));
  // The gap shrinks by 7 per second and volt of the 2 of its window: u grows by 3.5.
  CHECK(spec.table("rate").back() == Approx(3.5));
  CHECK(even_states(t, 1) == t.states);
  t.current_A[6] = 1e-7;  // at 1 V: no longer falling all the way
  CHECK_THROWS_WITH(tabulated_device(t, 1), Contains("must be monotonic"));
  t.rate[0] = std::nan("");
  CHECK_THROWS_WITH(tabulated_device(t, 1), Contains("at -1 V and state 2"));
  CHECK_THROWS_WITH(tabulated_device(t, 3), Contains("device table: at -1 V"));
}

TEST_CASE("tables of a device that do not fit are refused", "[devices]") {
  DeviceSpec spec;
  spec.model = "memristor_table";
  CHECK_NOTHROW(spec.validate());  // linear drift
  spec.tables = {{"volts", {-1, 0, 1}}, {"rate", {-1, -1, 0, 0, 1, 1}}, {"current", {0, 0}}};
  CHECK_THROWS_WITH(spec.validate(), Contains("rate has 6 and current 2 numbers"));
  spec.tables["current"] = {-1e-6, -1e-5, 0, 0, 1e-6, 1e-5};
  CHECK_NOTHROW(spec.validate());
  spec.shape["pulse_up"] = 2;
  CHECK_THROWS_WITH(spec.validate(), Contains("pulse_up = 2 V"));
  spec.shape["pulse_up"] = 1;
  spec.shape["temperature"] = 350;  // of the tables; the devices are at 300 K
  CHECK_THROWS_WITH(spec.validate(), Contains("temperature = 350 K") && Contains("--temperature \"300 K\""));
  spec.temperature_K = 350;
  CHECK_NOTHROW(spec.validate());
  spec.tables["volts"] = {-1, 1, 0};
  CHECK_THROWS_WITH(spec.validate(), Contains("must ascend"));
}
