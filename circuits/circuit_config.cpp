// SPDX-License-Identifier: Apache-2.0
#include "circuits/circuit_config.hpp"

namespace nudge {

ParamTable circuit_param_rows() {
  using namespace param;
  return {
      quantity("circuit.temperature", "300 K", Unit::kelvin, at_least(0), "Temperature of the devices.",
               "room temperature"),
      quantity("circuit.read_voltage", "0.2 V", Unit::volt, above(0),
               "Voltage that a drive of 1 stands for: scales physical noise, amplifier offsets and power.",
               "chosen: the usual read voltage of memristive arrays, well below switching"),
      quantity("circuit.time_constant", "25 ns", Unit::second, above(0),
               "Time constant tau of a state node: one unit of simulated time.",
               "chosen: analog associative memories settle in tens to hundreds of ns (arXiv:2512.15002)"),
      quantity("circuit.node_capacitance", "100 fF", Unit::farad, above(0),
               "Capacitance of a state node; its clamp then has the conductance C/tau.", "chosen"),
      flag("circuit.thermal_noise", "false",
           "Fresh noise 4 k T G per hertz of every device and of the feedback of every amplifier, in every read, and of "
           "the clamp of every node."),
      flag("circuit.shot_noise", "false",
           "Fresh noise 2 q |I| per hertz of every device, in every read: full shot noise, an upper bound."),
      quantity("circuit.amplifier_bandwidth", "0 Hz", Unit::hertz, at_least(0),
               "Closed-loop bandwidth of the amplifiers that drive the nodes: one pole between force and node in every "
               "phase; 0: infinite.",
               "tau_a = 1/(2 pi f tau); IEEE TCAS-II 2021, doi:10.1109/TCSII.2021.3068764"),
      quantity("circuit.noise_within_phases", "10 us", Unit::second, at_least(0),
               "1/f and telegraph noise of shorter correlation times moves from read to read; slower noise stands still "
               "during a training step; 0 s: none moves.",
               "chosen: ten times a sequence of the default circuit, in which slower noise hardly moves"),
      quantity("circuit.dac_energy", "0 J", Unit::joule, at_least(0),
               "Energy of one digital-to-analog conversion; 0: not counted, no figure fits all converters."),
      quantity("circuit.adc_energy", "0 J", Unit::joule, at_least(0),
               "Energy of one analog-to-digital conversion; 0: not counted.")};
}

CircuitSpec circuit_spec(const Config& config) {
  CircuitSpec spec;
  spec.temperature_K = config.real("circuit.temperature");
  spec.read_voltage_V = config.real("circuit.read_voltage");
  spec.time_constant_s = config.real("circuit.time_constant");
  spec.node_capacitance_F = config.real("circuit.node_capacitance");
  spec.thermal_noise = config.flag("circuit.thermal_noise");
  spec.shot_noise = config.flag("circuit.shot_noise");
  spec.amplifier_bandwidth_Hz = config.real("circuit.amplifier_bandwidth");
  spec.noise_within_phases_s = config.real("circuit.noise_within_phases");
  spec.dac_energy_J = config.real("circuit.dac_energy");
  spec.adc_energy_J = config.real("circuit.adc_energy");
  return spec;
}

}  // namespace nudge
