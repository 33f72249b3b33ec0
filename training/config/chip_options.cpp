// SPDX-License-Identifier: Apache-2.0
#include "training/config/chip_options.hpp"

namespace nudge {
namespace {

using param::quantity, param::real, param::zero_is, param::formerly;

/// Key of an area in um^2 that no value fits for all chips.
ParamRow own_area(const char* key, const std::string& of) {
  return zero_is("unknown", real(key, "unknown", at_least(0),
                                 "Area of " + of + ", in um^2; unknown: not counted, because no value fits all."));
}

ParamRow own_power(const char* key, const std::string& of) {
  return zero_is("unknown", quantity(key, "unknown", Unit::watt, at_least(0),
                                     "Power of " + of + " while the chip runs; unknown: not counted."));
}

ParamRow node_row() {
  return formerly({"cost.node"},
                  zero_is("none", quantity("chip.node", "none", Unit::metre, at_least(0),
                                           "Feature size F of the chip, half the pitch of the lines of an array. It "
                                           "switches the description of a chip on: laws of converters, adders, cells "
                                           "and lines over F, and the check that the design can be. none: only what "
                                           "other keys price is counted.")));
}

const char* const survey =
    "Andrulis et al., arXiv:2404.06553, a regression on B. Murmann's ADC Performance Survey: 4 bits and more, up to 10 "
    "GHz";

Section<ChipOptions> supply_and_cells() {
  return {
      field(formerly({"cost.cell_area"},
                     zero_is("auto", real("chip.cell_area", "auto", at_least(0),
                                          "Area of a device with its selector, in F^2; auto: 4, a bare cross point; "
                                          "48 with device.selector = transistor.",
                                          "lines of a pitch of 2F; 2 x 2 and 4 x 12 F^2 are the defaults of "
                                          "DNN+NeuroSim"))),
            &ChipOptions::cell_F2),
      field(zero_is("unknown", quantity("chip.supply", "unknown", Unit::volt, at_least(0),
                                        "Supply voltage. Read voltages and the outputs of amplifiers must stay below "
                                        "it, write and gate voltages too unless chip.pump_efficiency is set. It scales "
                                        "the energy of DACs and adders. unknown: no check.")),
            &ChipOptions::supply_V),
      field(zero_is("none", real("chip.pump_efficiency", "none", between(0, 1),
                                 "Efficiency of a charge pump for write and gate voltages above chip.supply: the "
                                 "energy of such writes and word lines is divided by it. none: there is no pump.")),
            &ChipOptions::pump_efficiency),
      field(
          zero_is("unknown", quantity("chip.write_current", "unknown", Unit::ampere, at_least(0),
                                      "Compliance of a write driver: the most current it gives to a cell. The largest "
                                      "write pulse at device.g_max, through the selector, must stay below it. "
                                      "unknown: no check.")),
          &ChipOptions::write_A),
      field(real("chip.wire_capacitance", "0.2", at_least(0),
                 "Capacitance of a line per length, in fF/um: with the pitch of the cells it gives "
                 "circuit.line_capacitance where that is unknown. Wires alone, no transistors.",
                 "R. Ho, K. Mai and M. Horowitz, Proc. IEEE 89:490 (2001), doi:10.1109/5.920580: nearly the same at "
                 "all nodes"),
            &ChipOptions::wire_fF_per_um)};
}

Section<ChipOptions> pulses_and_gates() {
  return {
      field(real("chip.input_pulses", "1", at_least(1),
                 "Pulses in which an input is sent, one after the other: a bit-serial input has one for each bit. Each "
                 "charges the driven lines and opens the word lines again."),
            &ChipOptions::input_pulses),
      field(zero_is("auto", quantity("chip.pulse_width", "auto", Unit::second, at_least(0),
                                     "Length of such a pulse: arrays take heat only so long. auto: the pulses fill the "
                                     "read.")),
            &ChipOptions::pulse_s),
      field(zero_is("unknown", quantity("chip.gate_capacitance", "unknown", Unit::farad, at_least(0),
                                        "Capacitance of the gate of a selector, with its piece of word line and its "
                                        "share of the driver; needs device.selector = transistor. unknown: not "
                                        "counted.",
                                        "130 nm: 2.3 fF, Wan et al., Nature 608:504 (2022), "
                                        "doi:10.1038/s41586-022-04992-8")),
            &ChipOptions::gate_F),
      field(zero_is("unknown", quantity("chip.gate_voltage", "unknown", Unit::volt, at_least(0),
                                        "Voltage of an open word line. Above chip.supply it needs chip.gate_supply or "
                                        "chip.pump_efficiency. unknown: not counted.")),
            &ChipOptions::gate_V),
      field(zero_is("chip", quantity("chip.gate_supply", "chip", Unit::volt, at_least(0),
                                     "Supply of the drivers of word lines where it has a pin of its own; chip: "
                                     "chip.supply, or its charge pump.")),
            &ChipOptions::gate_supply_V),
      field(quantity("chip.gate_closed_voltage", "0 V", Unit::volt, at_least(0),
                     "Voltage of a closed word line. Opening takes C (V_open - V_closed) V_open from the supply."),
            &ChipOptions::gate_closed_V)};
}

Section<ChipOptions> converters() {
  return {
      field(formerly({"cost.lines_per_adc"},
                     real("chip.lines_per_adc", "8", at_least(1),
                          "Sensed lines of a tile that take turns at one ADC; where a tile has fewer at a port, all "
                          "of them. They must be converted within a read, which sets the rate of the converter.",
                          "numColMuxed, the default of DNN+NeuroSim")),
            &ChipOptions::lines_per_adc),
      field(zero_is("auto", quantity("chip.adc_rate", "auto", Unit::hertz, at_least(0),
                                     "Conversions a second of an ADC; auto: as many as its lines ask for in the time "
                                     "of a read. A design whose ADCs are slower than that is refused.")),
            &ChipOptions::adc_rate_Hz),
      field(zero_is("survey", quantity("chip.adc_step_energy", "survey", Unit::joule, at_least(0),
                                       "Energy of an ADC per conversion step (Walden's figure of merit): 2^bits of it "
                                       "are a conversion; survey: by bits, rate and node. circuit.adc_energy comes "
                                       "first.",
                                       survey)),
            &ChipOptions::adc_step_J),
      field(formerly({"cost.adc_area"}, zero_is("survey", real("chip.adc_area", "survey", at_least(0),
                                                               "Area of one ADC, in um^2; survey: by energy, rate and "
                                                               "node.",
                                                               survey))),
            &ChipOptions::adc_um2),
      field(quantity("chip.dac_unit_capacitance", "0.5 fF", Unit::farad, above(0),
                     "Unit of the binary-weighted capacitors of a DAC: a conversion takes C V^2 (4^bits - 1)/(6 "
                     "2^bits) from chip.supply in the mean of all codes. circuit.dac_energy comes first.",
                     "custom-designed capacitors of an 8-bit SAR ADC in 90 nm: Harpe et al., IEEE J. Solid-State "
                     "Circuits 46:1585 (2011), doi:10.1109/JSSC.2011.2143870"),
            &ChipOptions::dac_unit_F),
      field(formerly({"cost.dac_area"}, zero_is("auto", real("chip.dac_area", "auto", at_least(0),
                                                             "Area of one DAC, in um^2; auto: its 2^bits units over "
                                                             "chip.capacitor_density."))),
            &ChipOptions::dac_um2),
      field(zero_is("unknown", real("chip.capacitor_density", "unknown", at_least(0),
                                    "Capacitance per area, in fF/um^2: gives the areas of DACs and of "
                                    "sample-and-holds (circuit.hold_capacitance). unknown: not counted.")),
            &ChipOptions::capacitor_fF_per_um2)};
}

Section<ChipOptions> periphery() {
  return {
      field(formerly({"cost.amplifier_area"}, own_area("chip.amplifier_area", "the amplifier of a sensed line")),
            &ChipOptions::amplifier_um2),
      field(formerly({"cost.driver_area"},
                     own_area("chip.driver_area", "the driver of a line, its level shifter included")),
            &ChipOptions::driver_um2),
      field(own_area("chip.decoder_area", "decoders and multiplexers, for each line of a tile"),
            &ChipOptions::decoder_um2),
      field(zero_is("unknown", quantity("chip.buffer_energy", "unknown", Unit::joule, at_least(0),
                                        "Energy of the buffers for a number that enters or leaves an array, one for "
                                        "each conversion; unknown: not counted.")),
            &ChipOptions::buffer_J),
      field(own_power("chip.control_power", "control, clocks and references"), &ChipOptions::control_W),
      field(own_power("chip.leakage_power", "leakage, of the whole chip,"), &ChipOptions::leakage_W),
      field(own_area("chip.control_area", "control, buffers, references and digital work"), &ChipOptions::control_um2),
      field(zero_is("unknown", real("chip.steps_per_day", "unknown", at_least(0),
                                    "Training steps a day: with device.endurance and the pulses of the run's steps the "
                                    "card says for how many years devices last.")),
            &ChipOptions::steps_per_day)};
}

}  // namespace

const Section<ChipOptions>& chip_section() {
  static const Section<ChipOptions> section = [] {
    Section<ChipOptions> all = supply_and_cells();
    all.add(pulses_and_gates());
    all.add(converters());
    all.add(periphery());
    Section<ChipOptions> node = {field(node_row(), &ChipOptions::node_m)};
    for (const OptionField<ChipOptions>& one : all.fields()) {
      OptionField<ChipOptions> own = one;
      own.row = read_with(above_zero("chip.node"), std::move(own.row));
      node.add(Section<ChipOptions>{own});
    }
    return node;
  }();
  return section;
}

}  // namespace nudge
