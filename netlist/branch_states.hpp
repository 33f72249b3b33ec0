// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlist/netlist.hpp"

namespace nudge {

/// Netlist in which all sources are functions of node voltages, so that it has NodeCoordinates. The current i of an H, or of a source of voltage
/// by an expression f, becomes the voltage u = i/(1 S) of a node "NAME#u" without capacitance. A current u leaves through the source's nodes,
/// and v₊ − v₋ − f flows into the new node: it is 0 at every instant. The current of a V that an H or an expression takes is such a voltage
/// too, behind a node "NAME#m" between the V and its second node. The elements keep their numbers; others come behind them.
Netlist with_branch_states(Netlist netlist);

/// First element that with_branch_states() takes a current of as a state; null: the netlist stays as it is.
const Element* first_branch_state(const Netlist& netlist);

}  // namespace nudge
