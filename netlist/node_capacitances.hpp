// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "netlist/netlist.hpp"

namespace nudge {

/// Capacitance of every node to ground, in F: `everywhere_F`, unless an entry "NODE = C" gives another. * and ? stand for
/// characters of names; of several entries that fit a node the last holds. UserError that begins with `key` for an entry of
/// another form, a quantity that is not at least 0 F, or one that fits no node.
std::vector<double> node_capacitances(const Netlist& netlist, double everywhere_F,
                                      const std::vector<std::string>& entries, const std::string& key);

/// True if a name fits a glob: * stands for any characters, ? for one; case does not matter.
bool fits_glob(const std::string& glob, const std::string& name);

}  // namespace nudge
