// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/circuit_spec.hpp"
#include "circuits/crossbar/line_view.hpp"
#include "circuits/read_context.hpp"
#include "devices/device_cells.hpp"
#include "devices/effects.hpp"

namespace nudge {

/// Duration in seconds of `time` units of τ: a phase of n steps of ε lasts n ε τ.
inline double seconds(double time, const CircuitSpec& circuit) { return time * circuit.time_constant_s; }

/// Conductance of the clamp that gives a node its time constant, C/τ.
inline double clamp_conductance_S(const CircuitSpec& circuit) {
  return circuit.node_capacitance_F / circuit.time_constant_s;
}

/// Thermal voltage noise of a node, √(k_B T/C), in any bandwidth that contains its own.
double node_noise_V(const CircuitSpec& circuit);

/// Heat in the clamp resistors of one sequence at rest, (C/τ) V² ‖z − x_in‖²; z, x_in in units of the read voltage.
template <class S>
double clamp_power_W(const CircuitSpec& circuit, ConstMatrixRef<S> z, ConstMatrixRef<S> drive);

/// Power of an array whose rows are driven by independent numbers of variance 1 (volts: the read voltage): V² Σ_ij G_ij.
template <class S>
double unit_drive_power_W(const LineView<S>& view, double siemens_per_weight, const CircuitSpec& circuit);

/// Energy of a stretch of simulation, by its use. An item whose key is 0 is 0: not counted.
struct EnergyReport {
  double arrays_J = 0;      ///< heat in the devices while they are read
  double dac_J = 0;         ///< conversions times circuit.dac_energy
  double adc_J = 0;         ///< conversions times circuit.adc_energy
  double amplifiers_J = 0;  ///< sensed lines times the length of their read times circuit.amplifier_power
  double drivers_J =
      0;  ///< C V² of every driven line at every read, C = circuit.line_capacitance times its devices. The supply gives
          ///< this to charge the line from 0 V: an upper bound where drives change slowly
  double writes_J = 0;     ///< heat of the pulses in the devices
  double verify_J = 0;     ///< single-device reads of write–verify
  double transfers_J = 0;  ///< reads of transfers between two arrays (Tiki-Taka)
  double digital_J = 0;    ///< operations times circuit.digital_energy
  double conversions_J() const { return dac_J + adc_J; }
  double total_J() const {
    return arrays_J + dac_J + adc_J + amplifiers_J + drivers_J + writes_J + verify_J + transfers_J + digital_J;
  }
};

/// Energy of so many operations at so much for each, both by the port that makes them.
inline double priced(const PerPort<std::uint64_t>& counts, const PerPort<double>& each_J) {
  return static_cast<double>(counts.forward) * each_J.forward +
         static_cast<double>(counts.transposed) * each_J.transposed;
}

/// Energy of the reads of a relaxation, a training step or a run (ReadContext::meter, summed over sequences in order), and
/// of its pulses. writes_J: PulseHeat, summed over arrays; 0 for a relaxation.
EnergyReport energy_report(const ReadTotals& reads, const CircuitSpec& circuit, double writes_J = 0);

/// Energy of `reads` reads of single devices that last time_s each: V² G t at the mean conductance, and one conversion
/// of the forward port each where `converted`.
double verify_energy_J(std::uint64_t reads, const CircuitSpec& circuit, double mean_conductance_S, double time_s,
                       bool converted);

}  // namespace nudge
