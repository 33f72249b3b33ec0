// SPDX-License-Identifier: Apache-2.0
#include "circuits/energy.hpp"

namespace nudge {

double node_noise_V(const CircuitSpec& circuit) {
  return sampled_noise(circuit, circuit.node_capacitance_F) * circuit.read_voltage_V;
}

template <class S>
double clamp_power_W(const CircuitSpec& circuit, ConstMatrixRef<S> z, ConstMatrixRef<S> drive) {
  const double squares = (z - drive).template cast<double>().squaredNorm();
  return clamp_conductance_S(circuit) * circuit.read_voltage_V * circuit.read_voltage_V * squares;
}

template <class S>
double unit_drive_power_W(const LineView<S>& view, double siemens_per_weight, const CircuitSpec& circuit) {
  const double load = view.row_load.template cast<double>().sum();
  return circuit.read_voltage_V * circuit.read_voltage_V * siemens_per_weight * load;
}

EnergyReport energy_report(const ReadTotals& reads, const CircuitSpec& circuit, double writes_J) {
  EnergyReport report;
  report.arrays_J = reads.array_J;
  report.dac_J = priced(reads.dac_conversions, circuit.dac_energy_J);
  report.adc_J = priced(reads.adc_conversions, circuit.adc_energy_J);
  report.amplifiers_J = reads.amplifier_s * circuit.amplifier_power_W;
  report.drivers_J = reads.cell_V2 * circuit.line_capacitance_F;
  report.digital_J = reads.operations * circuit.digital_energy_J;
  report.writes_J = writes_J;
  return report;
}

double verify_energy_J(std::uint64_t reads, const CircuitSpec& circuit, double mean_conductance_S, double time_s,
                       bool converted) {
  const double heat = circuit.read_voltage_V * circuit.read_voltage_V * mean_conductance_S * time_s;
  return static_cast<double>(reads) * (heat + (converted ? circuit.adc_energy_J.forward : 0));
}

#define NUDGE_ENERGY(S)                                                                       \
  template double clamp_power_W<S>(const CircuitSpec&, ConstMatrixRef<S>, ConstMatrixRef<S>); \
  template double unit_drive_power_W<S>(const LineView<S>&, double, const CircuitSpec&);
NUDGE_BOTH_PRECISIONS(NUDGE_ENERGY)

}  // namespace nudge
