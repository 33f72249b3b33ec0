// SPDX-License-Identifier: Apache-2.0
#include "circuits/crossbar/crossbar_spec.hpp"

#include <fmt/format.h>

#include "circuits/rules/rule_kinds.hpp"
#include "devices/device_config.hpp"

namespace nudge {
namespace {

const Choices<Saturation> saturations{{"tanh", Saturation::tanh}, {"clip", Saturation::clip}};
const Choices<MappingKind> mappings{{"differential", MappingKind::differential},
                                    {"reference_column", MappingKind::reference_column},
                                    {"offset", MappingKind::offset},
                                    {"one_sided", MappingKind::one_sided},
                                    {"reset_only", MappingKind::reset_only}};
const Choices<ScalePolicy> scale_policies{
    {"keep", ScalePolicy::keep}, {"renew", ScalePolicy::renew}, {"column", ScalePolicy::column}};
const Choices<LineEnds> line_end_kinds{{"one", LineEnds::one}, {"both", LineEnds::both}};
const Choices<ProgrammingScheme> programming_schemes{{"open_loop_error", ProgrammingScheme::open_loop_error},
                                                     {"open_loop_pulses", ProgrammingScheme::open_loop_pulses},
                                                     {"write_verify", ProgrammingScheme::write_verify}};
// Those between are the rules of circuits/rules, by the names of rule_kinds().
const Choices<UpdateScheme> update_schemes{
    {"pulses", UpdateScheme::pulses},           {"write_verify", UpdateScheme::write_verify},
    {"coincidence", UpdateScheme::coincidence}, {"accumulate", UpdateScheme::accumulate},
    {"tiki_taka", UpdateScheme::tiki_taka},     {"ttv2", UpdateScheme::ttv2},
    {"c_ttv2", UpdateScheme::c_ttv2},           {"agad", UpdateScheme::agad},
    {"residual", UpdateScheme::residual},       {"multi_tile", UpdateScheme::multi_tile},
    {"one_sided", UpdateScheme::one_sided},     {"none", UpdateScheme::none}};

std::string update_doc() {
  std::string doc =
      "How training changes weights. pulses: the summed change as pulses; write_verify: a digital copy, written and "
      "read back until it fits; coincidence: stochastic pulse trains on rows and columns (plain SGD only)";
  for (const RuleKind& kind : rule_kinds()) doc += fmt::format("; {}: {}", kind.name, kind.summary);
  return doc +
         "; none: devices that are programmed once and never written again (train.null). "
         "docs/reference/update_rules.md";
}

const Choices<WriteBias> write_biases{
    {"isolated", WriteBias::isolated}, {"half", WriteBias::half}, {"third", WriteBias::third}};
const Choices<VerifyLines> verify_lines{{"grounded", VerifyLines::grounded}, {"floating", VerifyLines::floating}};
const Choices<PulseOrder> pulse_orders{{"batch", PulseOrder::batch}, {"sample", PulseOrder::sample}};
const Choices<Directions> directions{{"sequential", Directions::sequential},
                                     {"simultaneous", Directions::simultaneous}};
const Choices<bool> trims{{"once", false}, {"every_update", true}};
const Choices<bool> rangings{{"per_read", false}, {"once", true}};
const Choices<TransposedPath> transposed_paths{{"same_ends", TransposedPath::same_ends},
                                               {"opposite_ends", TransposedPath::opposite_ends}};

/// Keys of the circuits of one direction; `lines`: the lines that they sense.
Section<PortSpec> port_section(const std::string& direction, const std::string& lines) {
  using param::integer;
  using param::named;
  using param::path;
  using param::quantity;
  using param::real;
  const std::string key = "crossbar." + direction + "_";
  return {
      field(param::zero_is("ideal", integer(key + "dac_bits", "ideal", zero_or_between(1, 24),
                                            "Resolution of what drives a " + direction + " read; 1: two levels.")),
            &PortSpec::dac, &ConverterSpec::bits),
      field(param::zero_is(
                "auto", real(key + "dac_range", "auto", at_least(0),
                             "Full scale of that drive, which clips there (also without rounding); auto: ranged by the "
                             "largest value of each drive.")),
            &PortSpec::dac, &ConverterSpec::range),
      field(
          read_with(any_changed({key + "dac_bits"}),
                    path(key + "dac_inl", "",
                         "Measured INL of it, the same of all driven lines: a table with the columns code and INL (or "
                         "DNL), in LSB. Levels move by INL. Takes a range or crossbar.ranging = once.")),
          &PortSpec::dac, &ConverterSpec::inl),
      field(
          quantity(key + "driver_noise", "0 V", Unit::volt, at_least(0),
                   "Noise per root hertz of a driven line's voltage, white: one number for all devices of the line in "
                   "a read.",
                   "chosen: no noise"),
          &PortSpec::driver_noise_V),
      field(param::zero_is("ideal", integer(key + "adc_bits", "ideal", zero_or_between(1, 24),
                                            "Resolution of the " + direction + " read-out; 1: a comparator.")),
            &PortSpec::adc, &ConverterSpec::bits),
      field(param::zero_is("auto", real(key + "adc_range", "auto", at_least(0),
                                        "Full scale of that read-out, which clips there (also without rounding); auto: "
                                        "ranged by each read.")),
            &PortSpec::adc, &ConverterSpec::range),
      field(
          read_with(any_changed({key + "adc_bits"}),
                    path(key + "adc_inl", "",
                         "Measured INL of it, the same of all " + lines +
                             ": a table with the columns code and INL (or DNL), in LSB. Edges move by INL; a DNL of -1 "
                             "is a missing code. Takes a range or crossbar.ranging = once.")),
          &PortSpec::adc, &ConverterSpec::inl),
      field(quantity(key + "offset", "0 V", Unit::volt, at_least(0),
                     "Standard deviation of the input offset voltage of the amplifiers of the " + lines +
                         ", static; it drives the load of its line: V_os (1 + sum G/k)."),
            &PortSpec::amplifier, &AmplifierSpec::offset_V),
      field(real(key + "gain_error", "0", at_least(-1), "Gain error common to the amplifiers of the " + lines + "."),
            &PortSpec::amplifier, &AmplifierSpec::gain_error),
      field(real(key + "gain_spread", "0", at_least(0), "Standard deviation of the gain of each of them, static."),
            &PortSpec::amplifier, &AmplifierSpec::gain_spread),
      field(param::zero_is("infinite", real(key + "open_loop_gain", "infinite", at_least(0),
                                            "Open-loop gain A0 of them: an error of (1 + sum G/k)/A0.")),
            &PortSpec::amplifier, &AmplifierSpec::open_loop_gain),
      field(param::zero_is("none", real(key + "saturation", "none", at_least(0),
                                        "Largest output of them, in units of the state.")),
            &PortSpec::amplifier, &AmplifierSpec::saturation),
      field(read_with(above_zero(key + "saturation"), named(key + "saturation_shape", "tanh", "How they saturate.")),
            saturations, &PortSpec::amplifier, &AmplifierSpec::shape),
      field(quantity(key + "noise", "0 V", Unit::volt, at_least(0),
                     "Input noise of them per root hertz, white; the load of its line amplifies it by 1 + sum G/k.",
                     "chosen: no noise; data sheets of fast amplifiers state 1 to 10 nV"),
            &PortSpec::amplifier, &AmplifierSpec::noise_V),
      field(real(key + "gain_noise", "0", at_least(0),
                 "Standard deviation of the gain of each of the " + lines +
                     " from read to read, per sqrt(tau): noise of its reference, common to all devices of the line.",
                 "chosen: no noise"),
            &PortSpec::amplifier, &AmplifierSpec::gain_noise)};
}

}  // namespace

const Section<CrossbarSpec>& crossbar_section() {
  using param::integer;
  using param::named;
  using param::quantity;
  using param::real;
  const Condition wires = any_changed({"crossbar.row_resistance", "crossbar.column_resistance",
                                       "crossbar.driver_resistance", "crossbar.sense_resistance"});
  const Condition fixed_pulses = {
      "crossbar.step_voltage",
      [](const Config& c) { return c.at_default("crossbar.step_voltage") && c.at_default("crossbar.step_width"); },
      "pulses that do not grow (step_voltage = 0, step_width = 1)"};
  static const auto section = [&] {
    Section<CrossbarSpec> s = {
        field(
            named("crossbar.mapping", "differential",
                  "Reference of a device: a second device, one reference device per row, or the middle of the window, "
                  "taken off digitally. one_sided: a second device; both start at the bottom of the window and only go "
                  "up. reset_only: both start at its top and only go down (both: crossbar.update = one_sided)."),
            mappings, &CrossbarSpec::mapping, &MappingSpec::kind),
        field(real("crossbar.headroom", "2", at_least(1),
                   "Largest weight the window can hold, over the largest weight at the start: room to learn, paid for "
                   "in noise.",
                   "chosen: weights may double"),
              &CrossbarSpec::mapping, &MappingSpec::headroom),
        field(param::zero_is(
                  "auto",
                  real("crossbar.w_max", "auto", at_least(0),
                       "Largest weight the window can hold, the same for every matrix; auto: from the weights and "
                       "crossbar.headroom.")),
              &CrossbarSpec::mapping, &MappingSpec::w_max),
        field(named("crossbar.scale", "keep",
                    "Scale between weights and conductances. keep: as chosen at the start. renew: chosen anew at every "
                    "programming. column: one of every column by its largest weight at the start, a digital factor "
                    "behind converters."),
              scale_policies, &CrossbarSpec::mapping, &MappingSpec::scale),
        field(
            param::texts(
                "device.stuck_map", "[]", {},
                "Stuck devices as measured: files (CSV or .npy, the shape of the array) with a conductance in uS where "
                "a device is stuck, nothing or NaN where it is free. \"FILE\" is for the array of `nudge crossbar "
                "--weights|--conductances`, \"NAME=FILE\" for the array NAME of a network, \"NAME.minus=FILE\" for its "
                "negative or reference devices."),
            &CrossbarSpec::stuck, &StuckMap::files),
        field(quantity("crossbar.row_resistance", "0 Ohm", Unit::ohm, at_least(0),
                       "Wire resistance between neighbouring devices of a row; 0: ideal.",
                       "copper lines: 0.24 (100 nm) to 2.5 ohm (22 nm) per cell of 2F"),
              &CrossbarSpec::wires, &WireSpec::row_ohm),
        field(quantity("crossbar.column_resistance", "0 Ohm", Unit::ohm, at_least(0),
                       "Wire resistance between neighbouring devices of a column; 0: ideal."),
              &CrossbarSpec::wires, &WireSpec::column_ohm),
        field(quantity("crossbar.driver_resistance", "0 Ohm", Unit::ohm, at_least(0),
                       "Resistance of a row's terminal: of its driver, and in transposed reads of its amplifier."),
              &CrossbarSpec::wires, &WireSpec::driver_ohm),
        field(quantity("crossbar.sense_resistance", "0 Ohm", Unit::ohm, at_least(0),
                       "Resistance of a column's terminal: of its amplifier, and in transposed reads of its driver."),
              &CrossbarSpec::wires, &WireSpec::sense_ohm),
        field(read_with(wires, named("crossbar.line_ends", "one",
                                     "Whether wires are driven and sensed at one end or at both.")),
              line_end_kinds, &CrossbarSpec::wires, &WireSpec::rows_driven),
        field(param::zero_is("uncut", integer("crossbar.tile_rows", "uncut", at_least(0),
                                              "Rows of a tile; larger arrays are cut and partial sums added.")),
              &CrossbarSpec::tiles, &TileSpec::rows),
        field(param::zero_is("uncut", integer("crossbar.tile_columns", "uncut", at_least(0), "Columns of a tile.")),
              &CrossbarSpec::tiles, &TileSpec::columns),
        field(named("crossbar.programming", "open_loop_error",
                    "How weights are brought into devices: the statistics of some programming "
                    "(device.programming_error), a computed number of pulses sent blindly, or write-verify."),
              programming_schemes, &CrossbarSpec::programming, &ProgrammingSpec::scheme),
        field(param::formerly({"crossbar.scheme"}, named("crossbar.update", "pulses", update_doc())), update_schemes,
              &CrossbarSpec::programming, &ProgrammingSpec::update),
        field(real("crossbar.verify_tolerance", "0.01", Range{0, 1, true, true},
                   "Largest accepted distance of a conductance from its target, of the window.",
                   "chosen: 1 % of the window"),
              &CrossbarSpec::programming, &ProgrammingSpec::tolerance),
        field(param::zero_is("auto", integer("crossbar.verify_limit", "auto", between(0, 1000000000),
                                             "Pulses a device may get per write; auto: twice device.pulses.")),
              &CrossbarSpec::programming, &ProgrammingSpec::limit),
        field(read_with(
                  fixed_pulses,
                  real("crossbar.verify_burst", "0.5", between(0, 1),
                       "Share of the pulses believed to be missing that is sent between two reads; 0: one at a time.",
                       "chosen: below 1/2 no device overshoots back and forth whose pulses are up to 4 times the "
                       "nominal")),
              &CrossbarSpec::programming, &ProgrammingSpec::burst),
        field(real("crossbar.verify_time", "1", above(0),
                   "Length of a verify read in units of tau: its noise is device.read_noise/sqrt(verify_time)."),
              &CrossbarSpec::programming, &ProgrammingSpec::read_time),
        field(named("crossbar.verify_lines", "grounded",
                    "Lines of other cells while one is read for verification: at 0 V, or open, so that currents sneak "
                    "through the others."),
              verify_lines, &CrossbarSpec::programming, &ProgrammingSpec::lines),
        field(quantity("crossbar.step_voltage", "0 V", Unit::volt, at_least(0),
                       "Write-verify by incremental steps: a pulse of one direction in turn has this more than the one "
                       "before, from the model's own on; then a round sends one pulse. Models with volts (vteam, "
                       "yakopcic)."),
              &CrossbarSpec::programming, &ProgrammingSpec::step_V),
        field(real("crossbar.step_width", "1", between(1, 10), "And is so many times longer than the one before."),
              &CrossbarSpec::programming, &ProgrammingSpec::step_width),
        field(read_with(any_changed({"crossbar.step_voltage", "crossbar.step_width"}),
                        integer("crossbar.step_count", "20", between(1, 200),
                                "Different pulses of such a staircase; the last one is repeated.",
                                "chosen: twenty steps of the amplitude")),
              &CrossbarSpec::programming, &ProgrammingSpec::steps),
        field(named("crossbar.write_bias", "isolated",
                    "Voltages of unselected lines during a write. isolated: none reaches other cells. half: cells of "
                    "its row "
                    "and column see V/2. third: all see V/3. Models with volts."),
              write_biases, &CrossbarSpec::bias),
        field(
            param::zero_is(
                "never", quantity("crossbar.refresh", "never", Unit::second, at_least(0),
                                  "Interval of the devices' own time (train.step_time, nudge test --age) at which all "
                                  "of them are written anew, with the weights that they had after their last write.")),
            &CrossbarSpec::programming, &ProgrammingSpec::refresh_s),
        field(param::zero_is(
                  "none", integer("crossbar.calibration", "none", between(0, 1000),
                                  "Reads of random inputs by which the gain of an array follows what time does to all "
                                  "of its devices: made after every write and every wait (drift compensation).")),
              &CrossbarSpec::programming, &ProgrammingSpec::calibration),
        field(integer("crossbar.pulse_train", "31", between(1, 64), "Coincidence: most slots of a pulse train.",
                      "default of IBM aihwkit"),
              &CrossbarSpec::programming, &ProgrammingSpec::train),
        field(
            named(
                "crossbar.pulse_order", "batch",
                "Coincidence: pulses are counted over a batch and then sent, or sent sample by sample (slow, exact)."),
            pulse_orders, &CrossbarSpec::programming, &ProgrammingSpec::order),
        field(read_with(wires, named("crossbar.transposed_path", "same_ends",
                                     "Line ends of a transposed read: those of the forward read (its exact transpose) "
                                     "or the other ones.")),
              transposed_paths, &CrossbarSpec::periphery, &PeripherySpec::path),
        field(named("crossbar.directions", "sequential",
                    "sequential: an array takes a slot for each direction of a step. simultaneous: rows and columns "
                    "of layered networks are driven at once, in half the slots, with currents G (x - g). The rest of "
                    "the lines' own loads leaks at their nodes (docs/reference/read_timing.md)."),
              directions, &CrossbarSpec::periphery, &PeripherySpec::directions),
        field(
            read_with(
                chosen("crossbar.directions", {"simultaneous"}),
                real(
                    "crossbar.load_trim", "1e-3", from_below(0, 1),
                    "Simultaneous drives: standard deviation of the conductance that takes off a line's own load, over "
                    "that load, static.",
                    "chosen: what a trim of 10 bits leaves")),
            &CrossbarSpec::periphery, &PeripherySpec::load_trim),
        field(read_with(
                  chosen("crossbar.directions", {"simultaneous"}),
                  named("crossbar.trim", "every_update",
                        "Simultaneous drives: whether that conductance is trimmed once, to pairs around the middle of "
                        "their window, or after every update, to what the line has become.")),
              trims, &CrossbarSpec::periphery, &PeripherySpec::trim_follows),
        field(
            named("crossbar.ranging", "per_read",
                  "Ranges of converters whose range is auto. per_read: by the largest value of each read. once: all of "
                  "a kind alike, by the first batch of training times crossbar.headroom; the run file then has the "
                  "ranges in its keys."),
            rangings, &CrossbarSpec::periphery, &PeripherySpec::ranged_once)};
    s.add(port_section("forward", "columns"), &CrossbarSpec::periphery, &PeripherySpec::forward);
    s.add(port_section("transposed", "rows"), &CrossbarSpec::periphery, &PeripherySpec::transposed);
    s.add(rule_section(), &CrossbarSpec::rule);
    s.add(circuit_section(), &CrossbarSpec::circuit);
    s.add(token_section(), &CrossbarSpec::tokens);
    return s;
  }();
  return section;
}

CrossbarSpec crossbar_spec(const Config& config) {
  CrossbarSpec spec = crossbar_section().read(config);
  spec.device = device_spec(config);
  spec.device.temperature_K = spec.circuit.temperature_K;
  spec.device.lines = {spec.bias, spec.tiles.rows, spec.tiles.columns};
  spec.wires.columns_sensed = spec.wires.rows_driven;
  spec.periphery.load();
  return spec;
}

}  // namespace nudge
