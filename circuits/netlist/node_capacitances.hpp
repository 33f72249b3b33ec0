// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

/// Capacitance of every node to ground, in F: `everywhere_F`, where an entry "NODE = C" says nothing else; * and ? stand for characters of
/// names, and of entries that fit a node the last holds. UserError that begins with `key` for what is no such entry, no quantity of at least 0 F, or
/// fits no node.
std::vector<double> node_capacitances(const Netlist& netlist, double everywhere_F,
                                      const std::vector<std::string>& entries, const std::string& key);

/// Whether a name fits a glob: * stands for any characters, ? for one; case does not matter.
bool fits_glob(const std::string& glob, const std::string& name);

}  // namespace nudge
