// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/circuit_spec.hpp"
#include "devices/current_curve.hpp"
#include "training/models/network.hpp"

namespace nudge {

/// What a network is exported with.
struct NetlistOptions {
  Matrix<double> clamp;      ///< what clamps the circuit for one example (rows, inputs), as Network::clamp gives it
  CircuitSpec circuit = {};  ///< time constant and capacitance of the nodes, volts per unit
  CurrentCurve curve = {};   ///< of the devices
  std::string data_file;     ///< where ngspice writes the state
};

struct ExportedNetwork {
  std::string text;  ///< the netlist
  std::string note;  ///< a sentence about it for the user; may be empty
};

/// How a kind of network becomes a netlist (NetworkKind::netlist).
struct NetlistExport {
  /// Source terms or resistors that the netlist of a plan has. UserError for a plan that cannot be exported.
  double (*terms)(const NetworkPlan& plan);
  /// Keys of the config that make it smaller.
  std::vector<std::string> sizes;
  /// Weights are those of a noise-free read of the maps. UserError for parts or devices that cannot be exported.
  ExportedNetwork (*write)(const Network<double>& network, const NetlistOptions& options);
};

}  // namespace nudge
