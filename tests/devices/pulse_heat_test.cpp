// SPDX-License-Identifier: Apache-2.0
// The heat of pulses against closed forms and against V I integrated over the differential equation of a memristor.
#include "devices/pulse_effects.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

#include "devices/device_array.hpp"
#include "devices/memristor/memristor.hpp"

using namespace nudge;

namespace {

DeviceSpec spec_of(const char* model) {
  DeviceSpec spec;
  spec.model = model;
  spec.pulses = 200;
  return spec;
}

/// ∫ V I dt of a memristor at constant volts, trapezoids over `samples` steps of its trace.
double integral_J(const Memristor& m, double x0, double volts, double duration_s, int samples) {
  const MemristorTrace trace = drive(
      m, x0, [=](double) { return volts; }, duration_s, samples);
  double sum = 0;
  for (std::size_t i = 1; i < trace.time_s.size(); ++i) {
    sum += 0.5 * (trace.current_A[i] + trace.current_A[i - 1]) * volts * (trace.time_s[i] - trace.time_s[i - 1]);
  }
  return sum;
}

}  // namespace

TEST_CASE("pulses of a constant step heat by V² t times the mean conductance", "[devices]") {
  DeviceSpec spec = spec_of("constant_step");
  spec.pulse_up = {2, 10e-9};
  spec.pulse_down = {3, 20e-9};
  DeviceArray<double> array(spec, 1, 2, {});
  array.cells().g << 5e-6, 10e-6;
  const double step = spec.window_S() / 200;
  Matrix<double> counts(1, 2);
  counts << 7, -4;
  array.pulse(counts, 0);
  // 7 pulses of 2 V from 5 µS, each a step up; 4 of 3 V from 10 µS, each a step down.
  double expected = 0;
  for (int k = 0; k < 7; ++k) expected += 4 * 10e-9 * (5e-6 + (k + 0.5) * step);
  for (int k = 0; k < 4; ++k) expected += 9 * 20e-9 * (10e-6 - (k + 0.5) * step);
  CHECK(array.pulse_heat().total_J() == Approx(expected).epsilon(1e-12));
  // Those of single devices add up.
  array.pulse(std::vector<Index>{1}, Matrix<double>::Constant(1, 1, 1.0), 1);
  CHECK(array.pulse_heat().total_J() == Approx(expected + 4 * 10e-9 * (10e-6 - 3.5 * step)).epsilon(1e-12));
}

TEST_CASE("vteam: a pulse whose resistance moves at constant speed has the closed form of its heat", "[devices]") {
  DeviceSpec spec = spec_of("vteam");
  spec.shape = {{"window", 0}};
  const auto [up, down] = write_pulses(spec);
  CHECK(up.voltage_V == spec.shape_value("pulse_up"));
  CHECK(down.voltage_V == -spec.shape_value("pulse_down"));
  DeviceArray<double> array(spec, 1, 1, {});
  for (const double direction : {1.0, -1.0}) {
    const double g0 = 10e-6, before = array.pulse_heat().total_J();
    array.cells().g(0, 0) = g0;
    array.pulse(Matrix<double>::Constant(1, 1, direction), 0);
    const double g1 = array.conductance()(0, 0);
    REQUIRE(g1 * direction > g0 * direction);
    // 1/g = r0 + s t: ∫ V² g dt = V² t ln(g1/g0)/(1/g0 − 1/g1). The mean of the ends is sinh(u)/u of it, u = ln(g1/g0).
    const WritePulse& pulse = direction > 0 ? up : down;
    const double u = std::log(g1 / g0);
    const double closed = pulse.voltage_V * pulse.voltage_V * pulse.width_s * u / (1 / g0 - 1 / g1);
    const double heat = array.pulse_heat().total_J() - before;
    CHECK(heat == Approx(closed * std::sinh(u) / u).epsilon(1e-9));
    CHECK(std::abs(heat / closed - 1) < 0.5 * std::abs(g1 - g0) / std::min(g0, g1));  // the bound that is stated
  }
}

TEST_CASE("memristor pulses heat by V I of the differential equation", "[devices]") {
  for (const std::string name : {"vteam", "yakopcic"}) {
    CAPTURE(name);
    DeviceSpec spec = spec_of(name.c_str());
    if (name == "yakopcic") spec.shape = {{"b", 3.0}};  // a curve that matters: sinh(1.5)/1.5 = 1.42
    const Vteam v = name == "vteam" ? vteam_of(spec) : Vteam{};
    const Yakopcic y = name == "yakopcic" ? yakopcic_of(spec) : Yakopcic{};
    const Memristor& m = name == "vteam" ? static_cast<const Memristor&>(v) : y;
    const bool resistive = name == "vteam";
    const auto state = [&](double g) {
      if (!resistive) return (g - spec.g_min_S) / spec.window_S();
      return (1 / g - 1 / spec.g_min_S) / (1 / spec.g_max_S - 1 / spec.g_min_S);
    };
    for (const bool rises : {true, false}) {
      DeviceArray<double> array(spec, 1, 1, {});
      const double g0 = 10e-6, volts = spec.shape_value(rises ? "pulse_up" : "pulse_down");
      array.cells().g(0, 0) = g0;
      array.pulse(Matrix<double>::Constant(1, 1, rises ? 1.0 : -1.0), 0);
      const double g1 = array.conductance()(0, 0);
      const double exact = integral_J(m, state(g0), volts, spec.shape_value("pulse_width"), 2000);
      // Yakopcic's current is a x sinh(b v) and leaves no current at x = 0 where this model's g is g_min: the current is
      // smaller by g_min of some 10 µS, 2.5 %. Beside it the bound that is stated.
      const double off = resistive ? 0 : 1.1 * spec.g_min_S / std::min(g0, g1);
      CAPTURE(rises, exact, array.pulse_heat().total_J());
      CHECK(array.pulse_heat().total_J() ==
            Approx(exact).epsilon(0.5 * std::abs(g1 - g0) / std::min(g0, g1) + off + 1e-5));
    }
  }
}

TEST_CASE("without volts and widths the heat of pulses is not known, the config's come first", "[devices]") {
  DeviceArray<double> array(spec_of("soft_bounds"), 1, 1, {});
  array.pulse(Matrix<double>::Ones(1, 1), 0);
  CHECK_FALSE(array.pulse_heat().known());
  CHECK(array.pulse_heat().total_J() == 0);
  CHECK(array.slow_state().empty());
  DeviceSpec spec = spec_of("vteam");
  spec.pulse_up = {5, 1e-6};
  CHECK(write_pulses(spec).first.voltage_V == 5);
  CHECK(write_pulses(spec).second.voltage_V == 1);
}

TEST_CASE("the heat of pulses survives a checkpoint", "[devices]") {
  DeviceArray<float> array(spec_of("vteam"), 2, 2, {});
  array.pulse(Matrix<float>::Constant(2, 2, 3.0F), 0);
  DeviceArray<float> other(spec_of("vteam"), 2, 2, {});
  REQUIRE(array.slow_state().size() == 1);
  *other.slow_state().front().values = *array.slow_state().front().values;
  other.state_restored();
  CHECK(other.pulse_heat().total_J() == array.pulse_heat().total_J());
  const auto state = other.slow_state();
  (*state.front().values)(0, 0) = std::nanf("");
  CHECK_THROWS(other.state_restored());
}
