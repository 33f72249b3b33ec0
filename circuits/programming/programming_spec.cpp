// SPDX-License-Identifier: Apache-2.0
#include "circuits/programming/programming_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "devices/registry.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void check(bool holds, const char* key, double value, const char* rule) {
  if (!holds) throw UserError(fmt::format("crossbar.{} = {:g} (must be {})", key, value, rule));
}

void expect_verify(const ProgrammingSpec& spec, const char* key) {
  if (spec.verifies()) return;
  throw UserError(
      fmt::format("crossbar.{} (nothing reads it: set crossbar.programming or crossbar.update = write_verify)", key));
}

void check_growth(const ProgrammingSpec& spec, const DeviceSpec& device) {
  check(spec.step_V >= 0 && std::isfinite(spec.step_V), "step_voltage", spec.step_V, ">= 0 and finite, V");
  check(spec.step_width >= 1 && spec.step_width <= 10, "step_width", spec.step_width,
        "in [1, 10]: ratio of a pulse to the one before");
  check(spec.steps >= 1 && spec.steps <= 200, "step_count", spec.steps, "in [1, 200]");
  if (!spec.grows()) return;
  const char* key = spec.step_V > 0 ? "step_voltage" : "step_width";
  if (device_model(device.model).memristor == nullptr) {
    throw UserError(
        fmt::format("crossbar.{} with device.model = {}: its pulses have neither volts nor width. vteam and "
                    "yakopcic have both",
                    key, device.model));
  }
  expect_verify(spec, key);
}

void check_floating(const ProgrammingSpec& spec, const DeviceSpec& device) {
  expect_verify(spec, "verify_lines = floating");
  if (device.selector.kind == SelectorKind::transistor) {
    throw UserError(
        "crossbar.verify_lines = floating with device.selector = transistor: transistors of other rows are off, so "
        "there are no sneak paths. Leave the lines grounded");
  }
  if (device.selector.any()) {
    throw UserError(
        fmt::format("crossbar.verify_lines = floating with device.selector = {}: every read is a nonlinear circuit, "
                    "which training does not solve. Without it, `nudge crossbar` says what one such read carries",
                    selector_name(device.selector.kind)));
  }
  if (!(device.g_min_S > 0)) {
    throw UserError(
        "crossbar.verify_lines = floating with device.g_min = 0 S: lines without any conductance have no voltage. "
        "Raise device.g_min");
  }
}

}  // namespace

void ProgrammingSpec::validate(const DeviceSpec& device) const {
  check(tolerance > 0 && tolerance < 1, "verify_tolerance", tolerance,
        "> 0 and < 1: a distance relative to the window");
  check(limit >= 0 && limit <= 1000000000, "verify_limit", static_cast<double>(limit),
        "a number of pulses in [0, 1e9]; 0 means twice device.pulses");
  check(burst >= 0 && burst <= 1, "verify_burst", burst, "in [0, 1]; 0 sends single pulses");
  check(read_time > 0 && std::isfinite(read_time), "verify_time", read_time, "> 0 and finite, in units of tau");
  check(refresh_s >= 0 && std::isfinite(refresh_s), "refresh", refresh_s, ">= 0 and finite, s; 0: never");
  check(calibration >= 0 && calibration <= 1000, "calibration", calibration, "in [0, 1000]; 0: a fixed gain");
  check(train >= 1 && train <= 64, "pulse_train", train, "in [1, 64]");
  check_growth(*this, device);
  if (lines == VerifyLines::floating) check_floating(*this, device);
  if (verifies() && tolerance < 0.5 / device.pulses) {
    throw UserError(fmt::format(
        "crossbar.verify_tolerance = {:g} (must be >= {:g}): half a pulse of this device (device.pulses = {:g} "
        "across the window) is larger, so no number of pulses reaches it. Raise the tolerance or choose a finer "
        "device",
        tolerance, 0.5 / device.pulses, device.pulses));
  }
}

}  // namespace nudge
