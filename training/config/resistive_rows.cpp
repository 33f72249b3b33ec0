// SPDX-License-Identifier: Apache-2.0
#include "training/config/rows.hpp"
#include "training/models/resistive/resistive_config.hpp"

namespace nudge {

ParamTable resistive_rows() {
  using param::choice;
  using param::flag;
  using param::integers;
  using param::quantity;
  using param::real;
  using param::reals;
  const std::string published = "Scellier 2024 (arXiv 2402.11674), network of 100 hidden nodes";
  return {
      integers(
          "resistive.hidden", "100", between(1, 1048576),
          "Nodes of the hidden layers of a network.kind = resistive, from the inputs to the outputs; the first half of "
          "a layer is kept at or above 0 by diodes, the rest at or below 0.",
          published),
      reals(
          "resistive.gain", "100", above(0),
          "A_0, A_1, ...: gain behind the inputs, then of the bidirectional amplifier behind each hidden layer; those "
          "left out are 1.",
          published),
      choice(
          "resistive.bias", "current", resistive_biases().names(),
          "What holds the nodes up besides the layers: nothing, resistors to two rails, or current sources (numbers).",
          published),
      real("resistive.rail_voltage", "1", above(0),
           "Voltage of the rails at plus and minus this, in circuit.read_voltage."),
      choice(
          "resistive.diode", "ideal", {"ideal", "shockley", "none"},
          "Diodes of the hidden nodes, to ground. ideal: a node is kept on its side of 0; shockley: their current is "
          "I_s (exp(V/(n k T/q)) - 1), T being circuit.temperature, for relaxation.solver = coordinate alone; none: "
          "a linear circuit."),
      quantity("resistive.saturation_current", "1e-14 A", Unit::ampere, above(0), "I_s of resistive.diode = shockley.",
               "default of SPICE diode models (ngspice manual, parameter IS)"),
      real("resistive.emission", "1", above(0), "Emission coefficient (ideality) n of resistive.diode = shockley.",
           "default of SPICE diode models (ngspice manual, parameter N)"),
      flag("resistive.doubled_inputs", "true",
           "Sources x and -x for every feature x, so that resistors, which are never negative, can weigh either sign.",
           published),
      real(
          "resistive.initial_scale", "1", above(0),
          "Conductances start uniform in plus and minus scale/sqrt(n) of the n nodes below, clipped at 0: half of them "
          "open.",
          published),
  };
}

}  // namespace nudge
