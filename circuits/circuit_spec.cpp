// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_spec.hpp"

#include <fmt/format.h>

#include <numbers>

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
  check("hold_capacitance", hold_capacitance_F, true);
  check("hold_offset", hold_offset_V, true);
  phase_adc.validate("circuit.phase_adc");
  check("amplifier_bandwidth", amplifier_bandwidth_Hz, true);
  check("noise_within_phases", noise_within_phases_s, true);
  check("dac_energy", dac_energy_J, true);
  check("adc_energy", adc_energy_J, true);
  check("amplifier_power", amplifier_power_W, true);
  check("line_capacitance", line_capacitance_F, true);
  check("digital_energy", digital_energy_J, true);
}

double amplifier_lag(const CircuitSpec& spec) {
  if (spec.amplifier_bandwidth_Hz == 0) return 0;
  return 1 / (2 * std::numbers::pi * spec.amplifier_bandwidth_Hz * spec.time_constant_s);
}

double sampled_noise(const CircuitSpec& spec, double capacitance_F) {
  return std::sqrt(boltzmann_J_per_K * spec.temperature_K / capacitance_F) / spec.read_voltage_V;
}

double clamp_noise(const CircuitSpec& spec) {
  if (!spec.thermal_noise) return 0;
  return std::sqrt(2 * boltzmann_J_per_K * spec.temperature_K / spec.node_capacitance_F) / spec.read_voltage_V;
}

}  // namespace nudge
