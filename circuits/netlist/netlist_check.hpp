// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

/// UserError for a circuit without ground, for nodes that no path of direct current joins to ground, through resistors, voltage
/// sources, diodes or transistors (which), and for loops of voltage sources (which). `name` is the netlist's in messages.
void check_netlist(const Netlist& netlist, const std::string& name);

}  // namespace nudge
