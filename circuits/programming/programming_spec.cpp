// SPDX-License-Identifier: Apache-2.0
#include "circuits/programming/programming_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

void check(bool holds, const char* key, double value, const char* rule) {
  if (!holds) throw UserError(fmt::format("crossbar.{} = {:g} (must be {})", key, value, rule));
}

}  // namespace

void ProgrammingSpec::validate(const DeviceSpec& device) const {
  check(tolerance > 0 && tolerance < 1, "verify_tolerance", tolerance,
        "> 0 and < 1: a distance relative to the window");
  check(limit >= 0 && limit <= 1000000000, "verify_limit", static_cast<double>(limit),
        "a number of pulses in [0, 1e9]; 0 means twice device.pulses");
  check(burst >= 0 && burst <= 1, "verify_burst", burst, "in [0, 1]; 0 sends single pulses");
  check(read_time > 0 && std::isfinite(read_time), "verify_time", read_time, "> 0 and finite, in units of tau");
  check(train >= 1 && train <= 64, "pulse_train", train, "in [1, 64]");
  const bool verifies = scheme == ProgrammingScheme::write_verify || update == UpdateScheme::write_verify ||
                        update == UpdateScheme::one_sided;
  if (verifies && tolerance < 0.5 / device.pulses) {
    throw UserError(fmt::format(
        "crossbar.verify_tolerance = {:g} (must be >= {:g}): half a pulse of this device (device.pulses = {:g} across "
        "the window) is larger, so that no number of pulses can reach it; raise the tolerance or choose a finer device",
        tolerance, 0.5 / device.pulses, device.pulses));
  }
}

}  // namespace nudge
