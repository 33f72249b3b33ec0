// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_config.hpp"

#include "devices/device_config.hpp"

namespace nudge {

ParamTable crossbar_param_rows() {
  using namespace param;
  return {
      real(
          "crossbar.headroom", "2", at_least(1),
          "Largest weight the window can hold, over the largest weight at the start: room to learn, paid for in noise.",
          "chosen: weights may double"),
      real("crossbar.w_max", "0", at_least(0),
           "Largest weight the window can hold, the same for every matrix; 0: from the weights and crossbar.headroom."),
      choice("crossbar.scale", "keep", {"keep", "renew"},
             "Whether the scale between weights and conductances stays, or is chosen anew at every programming."),
      quantity("crossbar.row_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a row; 0: ideal.",
               "copper lines: 0.24 (100 nm) to 2.5 ohm (22 nm) per cell of 2F"),
      quantity("crossbar.column_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a column; 0: ideal."),
      quantity("crossbar.driver_resistance", "0 Ohm", Unit::ohm, at_least(0), "Output resistance of a row driver."),
      quantity("crossbar.sense_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Input resistance of a column's amplifier."),
      choice("crossbar.line_ends", "one", {"one", "both"},
             "Whether wires are driven and sensed at one end or at both."),
      integer("crossbar.tile_rows", "0", at_least(0),
              "Rows of a tile; larger arrays are cut and partial sums added; 0: not cut."),
      integer("crossbar.tile_columns", "0", at_least(0), "Columns of a tile; 0: not cut."),
      integer("crossbar.dac_bits", "0", between(0, 24), "Resolution of what drives an array; 0: ideal."),
      real("crossbar.dac_range", "0", at_least(0),
           "Full scale of the drive; 0: ranged by the largest value of each drive."),
      integer("crossbar.adc_bits", "0", between(0, 24), "Resolution of the forward read-out; 0: ideal."),
      real("crossbar.adc_range", "0", at_least(0), "Full scale of the forward read-out; 0: ranged by each read."),
      integer("crossbar.adc_transposed_bits", "0", between(0, 24), "Resolution of the transposed read-out; 0: ideal."),
      real("crossbar.adc_transposed_range", "0", at_least(0),
           "Full scale of the transposed read-out; 0: ranged by each read."),
      choice("crossbar.programming", "open_loop_error", {"open_loop_error", "open_loop_pulses", "write_verify"},
             "How weights are brought into devices: the statistics of some programming (device.programming_error), a "
             "computed number of pulses sent blindly, or write-verify."),
      choice("crossbar.update", "pulses", {"pulses", "write_verify", "coincidence"},
             "How training changes weights: the summed change as pulses, a digital copy written and verified, or "
             "stochastic pulse trains on rows and columns (plain SGD only)."),
      real("crossbar.verify_tolerance", "0.01", Range{0, 1, true, true},
           "Largest accepted distance of a conductance from its target, of the window.", "chosen: 1 % of the window"),
      integer("crossbar.verify_limit", "0", between(0, 1000000000),
              "Pulses a device may get per write; 0: twice device.pulses."),
      real("crossbar.verify_burst", "0.5", between(0, 1),
           "Share of the pulses believed to be missing that is sent between two reads; 0: one at a time.",
           "chosen: below 1/2 no device overshoots back and forth whose pulses are up to 4 times the nominal"),
      real("crossbar.verify_time", "1", above(0),
           "Length of a verify read in units of tau: its noise is device.read_noise/sqrt(verify_time)."),
      integer("crossbar.pulse_train", "31", between(1, 64), "Coincidence: most slots of a pulse train.",
              "default of IBM aihwkit"),
      choice("crossbar.pulse_order", "batch", {"batch", "sample"},
             "Coincidence: pulses are counted over a batch and then sent, or sent sample by sample (slow, exact)."),
      choice("crossbar.scheme", "single", {"single", "tiki_taka"},
             "One array, or a fast one that takes the updates and a slow one it is transferred to (Tiki-Taka).",
             "Gokmen and Haensch, Front. Neurosci. 14:103 (2020), doi:10.3389/fnins.2020.00103"),
      integer("crossbar.transfer_every", "1", at_least(1), "Tiki-Taka: updates between transfers."),
      integer("crossbar.transfer_columns", "1", at_least(1), "Tiki-Taka: columns transferred at a time, in turn."),
      real("crossbar.transfer_rate", "0.1", above(0),
           "Tiki-Taka: share of what the fast array holds that a transfer asks the slow array for."),
      real("crossbar.fast_gain", "1", above(0), "Tiki-Taka: an update d asks the fast array for fast_gain * d."),
      real("crossbar.fast_share", "0", at_least(0), "Tiki-Taka: weight of the fast array in what is read."),
      integer("crossbar.zero_shift_cycles", "8", between(0, 1000),
              "Tiki-Taka: cycles per level of the search for the symmetry point of the fast array; 0: taken as 0.",
              "idea: Kim et al., arXiv:1907.10228")};
}

namespace {

void read_programming(const Config& config, CrossbarSpec& spec) {
  ProgrammingSpec& p = spec.programming;
  const std::string& scheme = config.text("crossbar.programming");
  p.scheme = scheme == "write_verify"       ? ProgrammingScheme::write_verify
             : scheme == "open_loop_pulses" ? ProgrammingScheme::open_loop_pulses
                                            : ProgrammingScheme::open_loop_error;
  const std::string& update = config.text("crossbar.update");
  p.update = update == "write_verify"  ? UpdateScheme::write_verify
             : update == "coincidence" ? UpdateScheme::coincidence
                                       : UpdateScheme::pulses;
  p.tolerance = config.real("crossbar.verify_tolerance");
  p.limit = static_cast<double>(config.integer("crossbar.verify_limit"));
  p.burst = config.real("crossbar.verify_burst");
  p.read_time = config.real("crossbar.verify_time");
  p.train = static_cast<int>(config.integer("crossbar.pulse_train"));
  p.order = config.text("crossbar.pulse_order") == "sample" ? PulseOrder::sample : PulseOrder::batch;
  TransferSpec& t = spec.transfer;
  t.active = config.text("crossbar.scheme") == "tiki_taka";
  t.every = static_cast<int>(config.integer("crossbar.transfer_every"));
  t.columns = static_cast<int>(config.integer("crossbar.transfer_columns"));
  t.rate = config.real("crossbar.transfer_rate");
  t.fast_gain = config.real("crossbar.fast_gain");
  t.share = config.real("crossbar.fast_share");
  t.zero_shift = static_cast<int>(config.integer("crossbar.zero_shift_cycles"));
}

}  // namespace

CrossbarSpec crossbar_spec(const Config& config) {
  CrossbarSpec spec;
  spec.device = device_spec(config);
  spec.mapping.headroom = config.real("crossbar.headroom");
  spec.mapping.w_max = config.real("crossbar.w_max");
  spec.mapping.scale = config.text("crossbar.scale") == "renew" ? ScalePolicy::renew : ScalePolicy::keep;
  const LineEnds ends = config.text("crossbar.line_ends") == "both" ? LineEnds::both : LineEnds::one;
  spec.wires = {config.real("crossbar.row_resistance"),
                config.real("crossbar.column_resistance"),
                config.real("crossbar.driver_resistance"),
                config.real("crossbar.sense_resistance"),
                ends,
                ends};
  spec.tiles = {static_cast<Index>(config.integer("crossbar.tile_rows")),
                static_cast<Index>(config.integer("crossbar.tile_columns"))};
  const auto converter = [&config](const std::string& key) {
    return ConverterSpec{static_cast<int>(config.integer(key + "_bits")), config.real(key + "_range")};
  };
  spec.periphery.dac = converter("crossbar.dac");
  spec.periphery.forward.adc = converter("crossbar.adc");
  spec.periphery.transposed.adc = converter("crossbar.adc_transposed");
  read_programming(config, spec);
  return spec;
}

}  // namespace nudge
