// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_config.hpp"

#include "circuits/circuit_config.hpp"
#include "devices/device_config.hpp"
#include "sim/config/choices.hpp"

namespace nudge {
namespace {

const Choices<Saturation> saturations{{"tanh", Saturation::tanh}, {"clip", Saturation::clip}};
const Choices<MappingKind> mappings{{"differential", MappingKind::differential},
                                    {"reference_column", MappingKind::reference_column},
                                    {"offset", MappingKind::offset}};
const Choices<ScalePolicy> scale_policies{{"keep", ScalePolicy::keep}, {"renew", ScalePolicy::renew}};
const Choices<LineEnds> line_ends{{"one", LineEnds::one}, {"both", LineEnds::both}};
const Choices<ProgrammingScheme> programming_schemes{{"open_loop_error", ProgrammingScheme::open_loop_error},
                                                     {"open_loop_pulses", ProgrammingScheme::open_loop_pulses},
                                                     {"write_verify", ProgrammingScheme::write_verify}};
const Choices<UpdateScheme> update_schemes{{"pulses", UpdateScheme::pulses},
                                           {"write_verify", UpdateScheme::write_verify},
                                           {"coincidence", UpdateScheme::coincidence}};
const Choices<PulseOrder> pulse_orders{{"batch", PulseOrder::batch}, {"sample", PulseOrder::sample}};
const Choices<bool> transfers{{"single", false}, {"tiki_taka", true}};
const Choices<TransposedPath> transposed_paths{{"same_ends", TransposedPath::same_ends},
                                               {"opposite_ends", TransposedPath::opposite_ends}};

ParamTable port_rows(const std::string& direction, const std::string& lines) {
  using param::choice;
  using param::integer;
  using param::quantity;
  using param::real;
  const std::string key = "crossbar." + direction + "_";
  return {
      param::zero_is("ideal", integer(key + "dac_bits", "ideal", zero_or_between(2, 24),
                                      "Resolution of what drives a " + direction + " read.")),
      param::zero_is("auto",
                     real(key + "dac_range", "auto", at_least(0),
                          "Full scale of that drive, which clips there (also without rounding); auto: ranged by the "
                          "largest value of "
                          "each drive.")),
      param::zero_is("ideal", integer(key + "adc_bits", "ideal", zero_or_between(2, 24),
                                      "Resolution of the " + direction + " read-out.")),
      param::zero_is(
          "auto",
          real(key + "adc_range", "auto", at_least(0),
               "Full scale of that read-out, which clips there (also without rounding); auto: ranged by each read.")),
      quantity(key + "offset", "0 V", Unit::volt, at_least(0),
               "Standard deviation of the input offset voltage of the amplifiers of the " + lines +
                   ", static; it drives the load of its line: V_os (1 + sum G/k)."),
      real(key + "gain_error", "0", at_least(-1), "Gain error common to the amplifiers of the " + lines + "."),
      real(key + "gain_spread", "0", at_least(0), "Standard deviation of the gain of each of them, static."),
      param::zero_is("infinite", real(key + "open_loop_gain", "infinite", at_least(0),
                                      "Open-loop gain A0 of them: an error of (1 + sum G/k)/A0.")),
      param::zero_is("none",
                     real(key + "saturation", "none", at_least(0), "Largest output of them, in units of the state.")),
      choice(key + "saturation_shape", "tanh", saturations.names(), "How they saturate."),
      quantity(key + "noise", "0 V", Unit::volt, at_least(0),
               "Input noise of them per root hertz, white; the load of its line amplifies it by 1 + sum G/k.",
               "chosen: no noise; data sheets of fast amplifiers state 1 to 10 nV")};
}

PortSpec port_spec(const Config& config, const std::string& direction) {
  const std::string key = "crossbar." + direction + "_";
  const auto converter = [&](const std::string& which) {
    return ConverterSpec{static_cast<int>(config.integer(key + which + "_bits")), config.real(key + which + "_range")};
  };
  PortSpec port;
  port.dac = converter("dac");
  port.adc = converter("adc");
  port.amplifier.offset_V = config.real(key + "offset");
  port.amplifier.gain_error = config.real(key + "gain_error");
  port.amplifier.gain_spread = config.real(key + "gain_spread");
  port.amplifier.open_loop_gain = config.real(key + "open_loop_gain");
  port.amplifier.saturation = config.real(key + "saturation");
  port.amplifier.noise_V = config.real(key + "noise");
  port.amplifier.shape = saturations.of(config, key + "saturation_shape");
  return port;
}

}  // namespace

ParamTable crossbar_param_rows() {
  using param::choice;
  using param::integer;
  using param::quantity;
  using param::real;
  ParamTable rows = {
      choice("crossbar.mapping", "differential", mappings.names(),
             "What a device is compared with: a second device, one reference device per row, or the middle of the "
             "window, taken off digitally."),
      real(
          "crossbar.headroom", "2", at_least(1),
          "Largest weight the window can hold, over the largest weight at the start: room to learn, paid for in noise.",
          "chosen: weights may double"),
      param::zero_is("auto",
                     real("crossbar.w_max", "auto", at_least(0),
                          "Largest weight the window can hold, the same for every matrix; auto: from the weights and "
                          "crossbar.headroom.")),
      choice("crossbar.scale", "keep", scale_policies.names(),
             "Whether the scale between weights and conductances stays, or is chosen anew at every programming."),
      quantity("crossbar.row_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a row; 0: ideal.",
               "copper lines: 0.24 (100 nm) to 2.5 ohm (22 nm) per cell of 2F"),
      quantity("crossbar.column_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Wire resistance between neighbouring devices of a column; 0: ideal."),
      quantity("crossbar.driver_resistance", "0 Ohm", Unit::ohm, at_least(0), "Output resistance of a row driver."),
      quantity("crossbar.sense_resistance", "0 Ohm", Unit::ohm, at_least(0),
               "Input resistance of a column's amplifier."),
      choice("crossbar.line_ends", "one", line_ends.names(),
             "Whether wires are driven and sensed at one end or at both."),
      param::zero_is("uncut", integer("crossbar.tile_rows", "uncut", at_least(0),
                                      "Rows of a tile; larger arrays are cut and partial sums added.")),
      param::zero_is("uncut", integer("crossbar.tile_columns", "uncut", at_least(0), "Columns of a tile.")),
      choice("crossbar.programming", "open_loop_error", programming_schemes.names(),
             "How weights are brought into devices: the statistics of some programming (device.programming_error), a "
             "computed number of pulses sent blindly, or write-verify."),
      choice("crossbar.update", "pulses", update_schemes.names(),
             "How training changes weights: the summed change as pulses, a digital copy written and verified, or "
             "stochastic pulse trains on rows and columns (plain SGD only)."),
      real("crossbar.verify_tolerance", "0.01", Range{0, 1, true, true},
           "Largest accepted distance of a conductance from its target, of the window.", "chosen: 1 % of the window"),
      param::zero_is("auto", integer("crossbar.verify_limit", "auto", between(0, 1000000000),
                                     "Pulses a device may get per write; auto: twice device.pulses.")),
      real("crossbar.verify_burst", "0.5", between(0, 1),
           "Share of the pulses believed to be missing that is sent between two reads; 0: one at a time.",
           "chosen: below 1/2 no device overshoots back and forth whose pulses are up to 4 times the nominal"),
      real("crossbar.verify_time", "1", above(0),
           "Length of a verify read in units of tau: its noise is device.read_noise/sqrt(verify_time)."),
      integer("crossbar.pulse_train", "31", between(1, 64), "Coincidence: most slots of a pulse train.",
              "default of IBM aihwkit"),
      choice("crossbar.pulse_order", "batch", pulse_orders.names(),
             "Coincidence: pulses are counted over a batch and then sent, or sent sample by sample (slow, exact)."),
      choice("crossbar.scheme", "single", transfers.names(),
             "One array, or a fast one that takes the updates and a slow one it is transferred to (Tiki-Taka).",
             "Gokmen and Haensch, Front. Neurosci. 14:103 (2020), doi:10.3389/fnins.2020.00103"),
      integer("crossbar.transfer_every", "1", between(1, 1000000), "Tiki-Taka: updates between transfers."),
      integer("crossbar.transfer_columns", "1", between(1, 1000000),
              "Tiki-Taka: columns transferred at a time, in turn."),
      real("crossbar.transfer_rate", "0.02", above(0),
           "Tiki-Taka: share of what the fast array holds that a transfer asks the slow array for.",
           "chosen: lowest error of a linear regression on asymmetric soft bounds among 0.02, 0.1, 0.5"),
      real("crossbar.fast_gain", "1", above(0), "Tiki-Taka: an update d asks the fast array for fast_gain * d."),
      real("crossbar.fast_share", "0", at_least(0), "Tiki-Taka: weight of the fast array in what is read."),
      integer("crossbar.zero_shift_cycles", "8", between(0, 1000),
              "Tiki-Taka: cycles per level of the search for the symmetry point of the fast array; 0: taken as 0.",
              "idea: Kim et al., arXiv:1907.10228"),
      choice("crossbar.transposed_path", "same_ends", transposed_paths.names(),
             "Line ends of a transposed read: those of the forward read (its exact transpose) or the other ones.")};
  for (ParamRow& row : port_rows("forward", "columns")) rows.push_back(std::move(row));
  for (ParamRow& row : port_rows("transposed", "rows")) rows.push_back(std::move(row));
  for (ParamRow& row : circuit_param_rows()) rows.push_back(std::move(row));
  return rows;
}

namespace {

void read_programming(const Config& config, CrossbarSpec& spec) {
  ProgrammingSpec& p = spec.programming;
  p.scheme = programming_schemes.of(config, "crossbar.programming");
  p.update = update_schemes.of(config, "crossbar.update");
  p.tolerance = config.real("crossbar.verify_tolerance");
  p.limit = static_cast<double>(config.integer("crossbar.verify_limit"));
  p.burst = config.real("crossbar.verify_burst");
  p.read_time = config.real("crossbar.verify_time");
  p.train = static_cast<int>(config.integer("crossbar.pulse_train"));
  p.order = pulse_orders.of(config, "crossbar.pulse_order");
  TransferSpec& t = spec.transfer;
  t.active = transfers.of(config, "crossbar.scheme");
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
  spec.mapping.scale = scale_policies.of(config, "crossbar.scale");
  const LineEnds ends = line_ends.of(config, "crossbar.line_ends");
  spec.wires = {config.real("crossbar.row_resistance"),
                config.real("crossbar.column_resistance"),
                config.real("crossbar.driver_resistance"),
                config.real("crossbar.sense_resistance"),
                ends,
                ends};
  spec.tiles = {static_cast<Index>(config.integer("crossbar.tile_rows")),
                static_cast<Index>(config.integer("crossbar.tile_columns"))};
  read_programming(config, spec);
  spec.mapping.kind = mappings.of(config, "crossbar.mapping");
  spec.periphery.forward = port_spec(config, "forward");
  spec.periphery.transposed = port_spec(config, "transposed");
  spec.periphery.path = transposed_paths.of(config, "crossbar.transposed_path");
  spec.circuit = circuit_spec(config);
  spec.tokens = token_spec(config);
  return spec;
}

}  // namespace nudge
