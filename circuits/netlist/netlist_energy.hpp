// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/node_coordinates.hpp"

namespace nudge {

/// Co-content (Millar 1951) in W at node voltages v, half the power of resistors where there are only these, weighted as the coordinates say:
///     E = Σ_k σ_k ∫ I_k dv,     resistors ½ g v²,   diodes ∫ I dv and of gmin,   current sources I v,   shunts
/// values by element: conductance of a resistor in S, else Element::value.
double netlist_energy_W(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                        const std::vector<double>& v);

/// out (nodes or more) = ∂E/∂v, the currents of what has an energy that leave the nodes, each times its weight.
void weighted_currents(const NodalEquations& equations, const NodeCoordinates& at, const std::vector<double>& values,
                       const std::vector<double>& v, std::vector<double>& out);

}  // namespace nudge
