// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "circuits/netlist/nodal_equations.hpp"

namespace nudge {

/// By output: whether any of these independent sources can move its voltage, by a way of elements between nodes that leads neither through ground
/// nor through a node which a constant source holds against it. Capacitors lead nowhere at direct current. A necessary condition: what
/// reaches an output may still cancel there.
std::vector<bool> reached_outputs(const NodalEquations& equations, const std::vector<std::size_t>& sources);

}  // namespace nudge
