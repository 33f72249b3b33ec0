// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "circuits/netlist/node_coordinates.hpp"

namespace nudge {

/// The matrices M = Nᵀ C P and Nᵀ (∂r/∂v) P of a netlist over the columns of its state (NodeCoordinates) as entries of one sparse pattern, C
/// the capacitors that are drawn and one from every node to ground.
struct ReducedMatrices {
  /// Capacitances of the nodes to ground, in F.
  ReducedMatrices(const NodalEquations& equations, const NodeCoordinates& at,
                  const std::vector<double>& node_capacitance_F);

  /// Charge that capacitances have at the voltages v of the nodes, as states see it: Nᵀ C v (columns).
  void charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const;

  struct Part {
    std::size_t entry, from;  ///< of the pattern; of the nodal Jacobian
    double weight;
  };
  struct Between {
    int of, by;
    double farad;
  };
  std::vector<Between> between;  ///< entries of C
  std::vector<Part> slopes;      ///< what makes up Nᵀ (∂r/∂v) P
  std::vector<double> farads;    ///< M by entry
  std::vector<int> columns;      ///< of the entries
  SparsePattern pattern;         ///< which has the whole diagonal
};

}  // namespace nudge
