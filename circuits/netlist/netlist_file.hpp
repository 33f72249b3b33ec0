// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "circuits/netlist/card_reader.hpp"
#include "circuits/netlist/netlist.hpp"
#include "circuits/netlist/netlist_size.hpp"

namespace nudge {

/// Reads the circuit of a SPICE netlist in ngspice's dialect:
///     R C V I            DC VALUE, or the first value of a PULSE, SIN, EXP or PWL
///     D                  .model NAME D (IS N RS CJO), AREA
///     E G F H            linear
///     M                  .model NAME NMOS|PMOS (LEVEL=1 VTO KP LAMBDA IS N), W L; bulk junctions to source and drain
///     X, .subckt, .ends  with parameters
///     .param .global .model .include .options gmin= rshunt= temp= tnom= .title .end
/// Analyses and outputs (.op, .tran, .print, …, .control … .endc) say nothing of the circuit and are left out. All other cards are refused by
/// name. Refused too: two elements of one name, a circuit without ground, nodes that no path of direct current joins to ground, and loops of
/// voltage sources. UserError "file:line:column: …". `include`: see ReadInclude. More elements than `limit` are refused before they are made.
Netlist parse_netlist(const std::string& name, const std::string& text, const ReadInclude& include,
                      const NetlistLimit& limit = {});

/// Reads a netlist as parse_netlist() does, from a file; its .include are relative to the file that has them.
Netlist read_netlist(const std::filesystem::path& file, const NetlistLimit& limit = {});

/// Netlist as a file that read_netlist() and ngspice read, instances taken apart: the element x1.r2 is r_x1.r2, models are
/// those of the diodes and transistors that differ. `note`, a line, stands below the title.
std::string netlist_text(const Netlist& netlist, const std::string& note);

/// Checks a netlist. UserError for a circuit without ground, for loops of voltage sources (which), and for nodes without a
/// path of direct current to ground (which). Such a path leads through resistors, voltage sources, diodes or transistors.
/// `name` is the netlist's in messages.
void check_netlist(const Netlist& netlist, const std::string& name);

}  // namespace nudge
