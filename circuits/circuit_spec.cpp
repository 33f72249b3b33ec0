// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_spec.hpp"

#include <fmt/format.h>

#include <numbers>

#include "sim/base/errors.hpp"
#include "sim/config/reading.hpp"

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
  check("gain_bandwidth", gain_bandwidth_Hz, true);
  check("amplifier_bandwidth", amplifier_bandwidth_Hz, true);
  check("auto_zero_capacitance", zero_capacitance_F, false);
  check("noise_within_phases", noise_within_phases_s, true);
  check("dac_energy", dac_energy_J.forward, true);
  check("adc_energy", adc_energy_J.forward, true);
  check("amplifier_power", amplifier_power_W, true);
  check("line_capacitance", line_capacitance_F, true);
  check("digital_energy", digital_energy_J, true);
}

double amplifier_lag(const CircuitSpec& spec) {
  if (spec.amplifier_bandwidth_Hz == 0) return 0;
  return 1 / (2 * std::numbers::pi * spec.amplifier_bandwidth_Hz * spec.time_constant_s);
}

double closed_loop_bandwidth_Hz(const CircuitSpec& spec, double load) { return spec.gain_bandwidth_Hz / (1 + load); }

double input_offset_V(const CircuitSpec& spec, double raw_V) {
  if (!spec.auto_zero || raw_V == 0) return raw_V;
  return sampled_noise(spec, spec.zero_capacitance_F) * spec.read_voltage_V;
}

double auto_zero_s(const CircuitSpec& spec, double raw_V) {
  const double left = input_offset_V(spec, raw_V);
  if (spec.amplifier_bandwidth_Hz == 0 || left == 0 || left >= raw_V) return 0;
  return std::log(raw_V / left) / (2 * std::numbers::pi * spec.amplifier_bandwidth_Hz);
}

double sampled_noise(const CircuitSpec& spec, double capacitance_F) {
  return std::sqrt(boltzmann_J_per_K * spec.temperature_K / capacitance_F) / spec.read_voltage_V;
}

double clamp_noise(const CircuitSpec& spec) {
  if (!spec.thermal_noise) return 0;
  return std::sqrt(2 * boltzmann_J_per_K * spec.temperature_K / spec.node_capacitance_F) / spec.read_voltage_V;
}

namespace {

/// A price that holds for the converters of both ports.
OptionField<CircuitSpec> both_ports(ParamRow row, PerPort<double> CircuitSpec::*member) {
  std::string key = row.key;
  return {std::move(row),
          [key = std::move(key), member](const Config& config, CircuitSpec& circuit) {
            (circuit.*member).forward = (circuit.*member).transposed = config.real(key);
          },
          Member<CircuitSpec>(member)};
}

const Choices<TokenUse> token_uses{
    {"multiplexed", TokenUse::multiplexed}, {"replicated", TokenUse::replicated}, {"shared", TokenUse::shared}};

}  // namespace

const Section<CircuitSpec>& circuit_section() {
  using param::flag;
  using param::quantity;
  using param::real;
  static const Section<CircuitSpec> section = {
      field(quantity("circuit.temperature", "300 K", Unit::kelvin, at_least(0),
                     "Temperature of the devices: sets their thermal noise and, with device.relaxation_activation, "
                     "their relaxation.",
                     "room temperature"),
            &CircuitSpec::temperature_K),
      field(quantity("circuit.read_voltage", "0.2 V", Unit::volt, above(0),
                     "Voltage of a drive of 1: scales physical noise, amplifier offsets and power.",
                     "chosen: the usual read voltage of memristive arrays, well below switching"),
            &CircuitSpec::read_voltage_V),
      field(quantity("circuit.time_constant", "25 ns", Unit::second, above(0),
                     "Time constant tau of a state node: one unit of simulated time.",
                     "chosen: analog associative memories settle in tens to hundreds of ns (arXiv:2512.15002)"),
            &CircuitSpec::time_constant_s),
      field(quantity("circuit.node_capacitance", "100 fF", Unit::farad, above(0),
                     "Capacitance of a state node; its clamp then has the conductance C/tau.", "chosen"),
            &CircuitSpec::node_capacitance_F),
      field(param::zero_is("ideal",
                           quantity("circuit.hold_capacitance", "ideal", Unit::farad, at_least(0),
                                    "Capacitance of the sample-and-holds for the states of the phases, z* and z+-; "
                                    "a sample has the noise kT/C. ideal: no error.")),
            &CircuitSpec::hold_capacitance_F),
      field(quantity("circuit.hold_offset", "0 V", Unit::volt, at_least(0),
                     "Standard deviation of the static offset of these holds, the same in all phases."),
            &CircuitSpec::hold_offset_V),
      field(param::zero_is("ideal", param::integer("circuit.phase_adc_bits", "ideal", zero_or_between(1, 24),
                                                   "Resolution with which the states of the phases are read out; 1: "
                                                   "comparators.")),
            &CircuitSpec::phase_adc, &ConverterSpec::bits),
      field(param::zero_is("auto", real("circuit.phase_adc_range", "auto", at_least(0),
                                        "Full scale of that converter, in units of the state; auto: the range of "
                                        "each state.")),
            &CircuitSpec::phase_adc, &ConverterSpec::range),
      field(flag("circuit.thermal_noise", "false",
                 "Fresh noise 4 k T G per hertz of every device and amplifier feedback in every read, and of the "
                 "clamp of every node."),
            &CircuitSpec::thermal_noise),
      field(flag("circuit.shot_noise", "false",
                 "Fresh noise 2 q |I| per hertz of every device, in every read: full shot noise, an upper bound."),
            &CircuitSpec::shot_noise),
      field(real("circuit.leak_spread", "0", from_below(0, 0.2),
                 "Static mismatch of the clamps of the nodes: standard deviation of their conductance relative to "
                 "C/tau."),
            &CircuitSpec::leak_spread),
      field(param::zero_is("infinite",
                           quantity("circuit.gain_bandwidth", "infinite", Unit::hertz, at_least(0),
                                    "Gain-bandwidth product of the amplifiers at the lines (circuit.amplifier has "
                                    "published ones).")),
            &CircuitSpec::gain_bandwidth_Hz),
      field(param::zero_is("auto",
                           quantity("circuit.amplifier_bandwidth", "auto", Unit::hertz, at_least(0),
                                    "Closed-loop bandwidth of the amplifiers that drive the nodes: one pole between "
                                    "force and node in every phase. auto: circuit.gain_bandwidth divided by the "
                                    "noise gain 1 + sum G/k of the most loaded line of all arrays, computed before "
                                    "the first step. Infinite where circuit.gain_bandwidth is infinite.",
                                    "tau_a = 1/(2 pi f tau); IEEE TCAS-II 2021, doi:10.1109/TCSII.2021.3068764")),
            &CircuitSpec::amplifier_bandwidth_Hz),
      field(flag("circuit.auto_zero", "false",
                 "The amplifiers sample and subtract their offset before every example. The kT/C noise of "
                 "circuit.auto_zero_capacitance remains, drawn once per line and sampling.",
                 "Enz and Temes, Proc. IEEE 84:1584 (1996), doi:10.1109/5.542410"),
            &CircuitSpec::auto_zero),
      field(read_with(switched_on("circuit.auto_zero"),
                      quantity("circuit.auto_zero_capacitance", "1 pF", Unit::farad, above(0),
                               "Capacitance that keeps a sampled offset.", "chosen: 64 uV are left at 300 K")),
            &CircuitSpec::zero_capacitance_F),
      field(
          quantity("circuit.noise_within_phases", "10 us", Unit::second, at_least(0),
                   "1/f and telegraph noise with shorter correlation times changes from read to read. Slower noise is "
                   "constant during a training step. 0 s: all noise is constant.",
                   "chosen: ten times a sequence of the default circuit, in which slower noise hardly changes"),
          &CircuitSpec::noise_within_phases_s),
      both_ports(param::zero_is("unknown", quantity("circuit.dac_energy", "unknown", Unit::joule, at_least(0),
                                                    "Energy of one digital-to-analog conversion; unknown: not counted, "
                                                    "because no value fits all converters.")),
                 &CircuitSpec::dac_energy_J),
      both_ports(
          param::zero_is("unknown", quantity("circuit.adc_energy", "unknown", Unit::joule, at_least(0),
                                             "Energy of one analog-to-digital conversion; unknown: not counted.")),
          &CircuitSpec::adc_energy_J),
      field(param::zero_is(
                "unknown",
                quantity("circuit.amplifier_power", "unknown", Unit::watt, at_least(0),
                         "Static power of the amplifier of a sensed line while it is read; unknown: not counted.")),
            &CircuitSpec::amplifier_power_W),
      field(param::zero_is("unknown",
                           quantity("circuit.line_capacitance", "unknown", Unit::farad, at_least(0),
                                    "Capacitance of a line per device on it. A read charges every driven line with "
                                    "C V^2. unknown: not counted.")),
            &CircuitSpec::line_capacitance_F),
      field(
          param::zero_is(
              "unknown",
              quantity("circuit.digital_energy", "unknown", Unit::joule, at_least(0),
                       "Energy of one digital operation, for the products and softmax of attention, the softmax of the "
                       "read-out, local correlations and the optimizer. unknown: not counted. A 32-bit float addition "
                       "takes 0.9 pJ and a product 3.7 pJ in 45 nm, without memory (Horowitz, ISSCC 2014, "
                       "doi:10.1109/ISSCC.2014.6757323).")),
          &CircuitSpec::digital_energy_J)};
  return section;
}

const Section<TokenSpec>& token_section() {
  using param::named;
  using param::quantity;
  static const Section<TokenSpec> section = {
      field(named("circuit.tokens", "multiplexed",
                  "How the T tokens of a sequence use arrays that carry one vector at a time "
                  "(docs/reference/read_timing.md). multiplexed: in T time slots, T times as long. replicated: on T "
                  "replicas, each with its own devices. shared: all at once at no cost, an idealisation.",
                  "chosen: what chips with one array per matrix do; T replicas cost T times the devices"),
            token_uses, &TokenSpec::use),
      field(param::zero_is("none",
                           quantity("circuit.hold_time", "none", Unit::second, above(0),
                                    "Leak time constant of the sample-and-holds with circuit.tokens = multiplexed. "
                                    "The drive of a line is held for a round minus one slot (circuit.turn_slots). "
                                    "none: no leak.",
                                    "chosen: 100 fF over 1 TOhm leak with 0.1 s, 3e-6 in a round of 31 slots of 9 ns")),
            &TokenSpec::hold_time_s),
      field(read_with(above_zero("circuit.hold_time"),
                      param::zero_is(
                          "auto", param::real("circuit.turn_slots", "auto", at_least(0),
                                              "Slots per token at the busiest array, the time that a leaking hold must "
                                              "bridge; auto: counted in the first batch of a run."))),
            &TokenSpec::turn_slots)};
  return section;
}

CircuitSpec circuit_spec(const Config& config) { return circuit_section().read(config); }

}  // namespace nudge
