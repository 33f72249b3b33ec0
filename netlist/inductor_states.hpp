// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Conductance g of the gyrators of with_inductor_currents(): a node's volt stands for a milliampere, which is near what circuits have.
inline constexpr double kGyrator_S = 1e-3;

/// Netlist over time in which the current of every inductor is a state. An inductor L from a to b gets a node "NAME#i" with the voltage
/// u = i/g, and a current g u from a to b. The current g (v_a − v_b) charges a capacitance g² L at that node:
///     L di/dt = v_a − v_b
/// Coupled inductors have capacitances g² M between such nodes as well. The elements keep their numbers; others come behind them.
Netlist with_inductor_currents(Netlist netlist);

/// Inductors of such a netlist by name, and their nodes.
std::vector<std::pair<std::string, int>> inductor_nodes(const Netlist& netlist);

}  // namespace nudge
