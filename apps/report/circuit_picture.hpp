// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nudge::report {

/// A node of a circuit, at a place in the unit square.
struct CircuitSpot {
  std::string name;
  double x = 0, y = 0;
  double before_V = 0, after_V = 0;
  bool source = false, output = false;  ///< a source against ground sets it; the cost reads it
};

/// An element between two of them; `to` is −1 for ground. Conductances are those of its current over its voltage.
struct CircuitWire {
  std::string name;
  int from = 0, to = -1;
  double before_S = 0, after_S = 0, before_W = 0, after_W = 0;
  bool learns = false;
};

/// The circuit of a run of network.kind = netlist before and after training, its sources at the values of the file.
struct CircuitPicture {
  std::vector<CircuitSpot> spots;
  std::vector<CircuitWire> wires;
  std::string missing;  ///< why there is none, a sentence; empty of another network, too
};

CircuitPicture load_circuit(const std::filesystem::path& run);

/// Conductances and voltages before and after, and power after, as drawings; or why there are none. Empty of another network.
std::string circuit_figures(const CircuitPicture& picture);

}  // namespace nudge::report
