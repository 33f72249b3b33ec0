// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_spec.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {

void CircuitSpec::validate() const {
  const auto check = [](const char* key, double value, bool zero_allowed) {
    if (std::isfinite(value) && (value > 0 || (zero_allowed && value == 0))) return;
    throw UserError(
        fmt::format("circuit.{} = {:g} (must be a finite number {} 0)", key, value, zero_allowed ? ">=" : ">"));
  };
  check("temperature", temperature_K, true);
  check("read_voltage", read_voltage_V, false);
  check("time_constant", time_constant_s, false);
  check("node_capacitance", node_capacitance_F, false);
  check("dac_energy", dac_energy_J, true);
  check("adc_energy", adc_energy_J, true);
}

}  // namespace nudge
