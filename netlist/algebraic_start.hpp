// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "netlist/nodal_equations.hpp"
#include "netlist/reduced_matrices.hpp"

namespace nudge {

/// Voltages of the nodes that have no capacitance, while those with one keep theirs: what a circuit jumps to when a switch turns. Every node with
/// a capacitance gets a source of its voltage, of a small resistance (kPin_S), and the circuit's operating point is found by Newton's method with
/// limited junctions (OperatingPointSolver). The voltages that keep are off by the source's current over kPin_S: this is a start for Newton's
/// method without limits, not a solution.
class AlgebraicStart {
 public:
  static constexpr double kPin_S = 1e4;

  /// Builds the circuit; the equations may go.
  AlgebraicStart(const NodalEquations& equations, const ReducedMatrices& matrices);
  /// Builds the circuit in which these nodes keep their voltages.
  AlgebraicStart(const NodalEquations& equations, std::vector<int> nodes);

  /// Replaces the voltages v of all nodes, with the values of the elements (NodalEquations::values). False: there is no such point.
  bool solve(std::vector<double> values, std::vector<double>& v) const;

 private:
  std::vector<int> pinned_;
  NodalEquations equations_;
};

}  // namespace nudge
