// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/crossbar/crossbar_spec.hpp"
#include "sim/config/config.hpp"
#include "training/config/chip_options.hpp"
#include "training/models/network_plan.hpp"

namespace nudge {

/// Price of a converter of one port.
struct ConverterPrice {
  int bits = 0;        ///< 0: an ideal one, which is no part of the chip
  double lines = 0;    ///< of an ADC: sensed lines that have their turns at it, no more than its tile has
  double rate_Hz = 0;  ///< of an ADC: conversions a second, chip.adc_rate or its lines over the time of a read
  double each_J = 0;   ///< of a conversion
  double each_m2 = 0;  ///< area

  bool operator==(const ConverterPrice&) const = default;
};

/// Energies and sizes of single parts of a chip: what a key says, else the law of the part at chip.node (circuits/chip/part_laws.hpp), else
/// 0: not known. Each port has converters of its own, at its own bits.
struct ChipPrices {
  PerPort<ConverterPrice> adc = {}, dac = {};
  double read_s = 0;  ///< time of a read, in which every line of an ADC has its turn
  double line_F = 0;  ///< capacitance of a line per device on it
  double cell_F2 = 0, cell_m2 = 0;
  double hold_m2 = 0;  ///< area of a sample-and-hold
};

/// Prices the parts of a chip whose largest tiles have so many sensed lines (sensed_lines). 0: not known, as many as an ADC takes.
ChipPrices chip_prices(const Config& config, const PerPort<Index>& lines);

/// Sensed lines of the largest tile of a network's arrays.
PerPort<Index> sensed_lines(const Config& config, const NetworkPlan& plan);

/// Section [circuit] with the prices of a chip where its keys have none: what energies of a run are counted with.
CircuitSpec priced_circuit(const Config& config, const NetworkPlan& plan);

/// Largest voltage of a write pulse, staircases of write-verify included; 0: the device's pulses have no volts.
double write_voltage_V(const CrossbarSpec& arrays);

/// Throws UserError, with the inequality, for a chip that cannot be. Read, output, write and gate voltages must stay below chip.supply, or
/// have a source of their own. Without chip.node and devices it does nothing.
void check_chip(const Config& config);

/// Throws UserError, with the inequality, for tiles that are larger than every array of the network. The same for ADCs that cannot convert
/// all their lines in a read, as they are too slow or would be faster than all of the survey.
void check_chip_tiles(const Config& config, const NetworkPlan& plan);

}  // namespace nudge
