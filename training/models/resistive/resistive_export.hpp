// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "circuits/circuit_spec.hpp"
#include "circuits/resistive/resistive_network.hpp"
#include "training/models/netlist.hpp"

namespace nudge {

/// The physical circuit of a network of the kind resistive: conductances in S as the devices hold them, or, of numbers, in units
/// of C/τ (circuit.node_capacitance over circuit.time_constant); rails in V and current sources in A, one unit of state being
/// circuit.read_voltage; gains as they are. UserError for another kind.
ResistiveNetwork resistive_circuit(const Network<double>& network, const CircuitSpec& circuit);

/// That circuit for one sample, and what holds at its settled state.
struct ResistiveExport {
  std::string netlist;   ///< ngspice operating point (circuits/spice/resistive_netlist.hpp)
  double resistors = 0;  ///< in the netlist
  double kirchhoff =
      0;  ///< largest net current into a node that no diode holds, over the largest current of a node's load
  double power_W = 0;  ///< heat of all resistors
};

/// Settles the network on the features (1, n) by coordinate descent in its own variables, and puts the voltages that it finds into
/// Kirchhoff's law of the exported circuit. There must be diodes, of either law, and the network noise-free in this sense that its maps are read
/// as noise_free() gives them. ngspice writes the node voltages to `data_file`.
ResistiveExport export_resistive(const Network<double>& network, const CircuitSpec& circuit,
                                 ConstMatrixRef<double> features, const std::string& data_file);

/// That of the first row of an example, with a note on Kirchhoff's law; as terms count its resistors.
NetlistExport resistive_netlist_export();

}  // namespace nudge
