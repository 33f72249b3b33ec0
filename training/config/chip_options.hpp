// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/section.hpp"

namespace nudge {

/// Description of a chip: what the keys of arrays and circuits do not say, of size, supply and periphery. 0 stands for the word of its
/// key: not described, not known, or by the law of the part. Arrays, tiles, cells, bits, amplifiers, read voltage and timing stand in
/// [crossbar], [device] and [circuit], from which reads, IR drop, noise and writes are simulated; the cost card reads both.
struct ChipOptions {
  double node_m = {};                      ///< F, half the pitch of the lines; 0: there is no chip, only a simulation
  double cell_F2 = {};                     ///< area of a device with its selector, in F²; 0: by device.selector
  double supply_V = {};                    ///< supply of drivers, converters and logic
  double pump_efficiency = {};             ///< of the charge pump that makes write voltages above the supply; 0: none
  double write_A = {};                     ///< compliance of a write driver; 0: unknown
  double lines_per_adc = {};               ///< most sensed lines of a tile that take turns at one converter
  double adc_rate_Hz = {};                 ///< conversions a second of a converter; 0: as many as the reads ask for
  double adc_step_J = {};                  ///< figure of merit, J per conversion step; 0: by the survey
  double adc_um2 = {};                     ///< area of one converter; 0: by the survey
  double dac_unit_F = {};                  ///< unit capacitance of a digital-to-analog converter
  double dac_um2 = {};                     ///< area of one; 0: by its capacitors
  double capacitor_fF_per_um2 = {};        ///< density of capacitors
  double wire_fF_per_um = {};              ///< capacitance of a line per length
  double input_pulses = {};                ///< pulses in which an input is sent, one after the other
  double pulse_s = {};                     ///< length of such a pulse; 0: together they last as long as a read
  double gate_F = {};                      ///< capacitance of a selector's gate with its piece of word line; 0: unknown
  double gate_V = {}, gate_closed_V = {};  ///< voltages of an open and of a closed word line; 0 V open: unknown
  double gate_supply_V = {};               ///< supply of the drivers of word lines; 0: supply_V, or its pump
  double amplifier_um2 = {};               ///< area of one sensed line's amplifier
  double driver_um2 = {};                  ///< area of one driven line's driver, its level shifter included
  double decoder_um2 = {};                 ///< area of decoders and multiplexers, per line of a tile
  double buffer_J = {};                    ///< energy of a number that enters or leaves an array, in its buffer
  double control_W = {}, leakage_W = {};   ///< power of control, clocks and references; of leakage, of the whole chip
  double control_um2 = {};                 ///< area of control, buffers, references and digital work
  double steps_per_day = {};               ///< training steps a day, by which endurance becomes years

  bool described() const { return node_m > 0; }
};

const Section<ChipOptions>& chip_section();

}  // namespace nudge
