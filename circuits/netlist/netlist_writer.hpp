// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "circuits/netlist/netlist.hpp"

namespace nudge {

/// The netlist as a file that read_netlist() and ngspice read, instances taken apart: the element x1.r2 is r_x1.r2, models are those of
/// the diodes and transistors that differ. `note`, a line, stands below the title.
std::string netlist_text(const Netlist& netlist, const std::string& note);

}  // namespace nudge
