// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/config.hpp"
#include "training/config/chip_options.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Energies and sizes of single parts of a chip: what a key says, else the law of the part at chip.node (circuits/chip/part_laws.hpp), else
/// 0: not known. Ports of different bits have converters of the finer one.
struct ChipPrices {
  int adc_bits = 0, dac_bits = 0;  ///< of the finer port; 0: ideal
  double read_s = 0;               ///< time of a read, in which every line of an ADC has its turn
  double adc_rate_Hz = 0;          ///< conversions a second of an ADC: chip.adc_rate, or lines over read_s
  double adc_J = 0, dac_J = 0;     ///< of a conversion
  double line_F = 0;               ///< capacitance of a line per device on it
  double cell_F2 = 0, cell_m2 = 0;
  double adc_m2 = 0, dac_m2 = 0, hold_m2 = 0;  ///< of one
};

ChipPrices chip_prices(const Config& config);

/// Section [circuit] with the prices of a chip where its keys have none: what energies of a run are counted with.
CircuitSpec priced_circuit(const Config& config);

/// Largest voltage of a write pulse, staircases of write-verify included; 0: the device's pulses have no volts.
double write_voltage_V(const CrossbarSpec& arrays);

/// Throws UserError, with the inequality, for a chip that cannot be. Read, output and write voltages must stay below chip.supply. All
/// lines of an ADC must be converted in a read, by a converter that the survey has. Without chip.node and devices it does nothing.
void check_chip(const Config& config);

/// Throws UserError, with the inequality, for tiles that are larger than every array of the network.
void check_chip_tiles(const Config& config, const NetworkPlan& plan);

}  // namespace nudge
