// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "netlist/card_reader.hpp"
#include "netlist/memristor_kinds.hpp"
#include "netlist/netlist.hpp"

namespace nudge {

/// Limit on the elements of a netlist, instances of .subckt counted as elements, and the key by which a user raises it.
struct NetlistLimit {
  /// Standard limit: a netlist of 10⁶ resistors and its equations take 1.0 GB, names and matrix included (measured), which
  /// every machine has. The largest circuits of the benchmarks have 10⁵ nodes (bench/netlist_points.cpp).
  static constexpr std::size_t standard = 1000000;

  std::size_t elements = standard;
  std::string key = "NetlistLimit::elements";  ///< key or option that a message names
};

/// Reads the circuit of a SPICE netlist in ngspice's dialect:
///     R C V I            DC VALUE, or the first value of a PULSE, SIN, EXP or PWL
///     D                  .model NAME D (IS N RS CJO), AREA
///     E G F H            linear
///     M                  .model NAME NMOS|PMOS (LEVEL=1 VTO KP LAMBDA IS N W L), W L; bulk junctions to source and drain
///     Y                  memristors: .model NAME MEMRISTOR (preset=…), g r x; their devices are those of `devices`
///     X, .subckt, .ends  with parameters, one within another
///     .param .func .global .model .include .lib .if .nodeset .ic .temp .options .title .end
/// Analyses and outputs (.tran, .print, …, .control … .endc) do not describe the circuit: Netlist::notes names them. All other cards are refused
/// by name. Models and .subckt that no element uses are not judged. Refused too: two elements of one name, a circuit without ground, nodes that
/// no path of direct current joins to ground, and loops of voltage sources. UserError "file:line:column: …". `include`: see ReadInclude. More
/// elements than `limit` are refused before they are made.
Netlist parse_netlist(const std::string& name, const std::string& text, const ReadInclude& include,
                      const NetlistLimit& limit = {}, const MemristorSource& devices = {});

/// Reads a netlist as parse_netlist() does, from a file; its .include are relative to the file that has them.
Netlist read_netlist(const std::filesystem::path& file, const NetlistLimit& limit = {},
                     const MemristorSource& devices = {});

/// Netlist as a file that read_netlist() and ngspice read, instances taken apart: the element x1.r2 is r_x1.r2, models are
/// written for the diodes and transistors that differ. A memristor y1 is the resistor r_y1 behind a comment that names its device. `note`, a line,
/// stands below the title.
std::string netlist_text(const Netlist& netlist, const std::string& note);

/// Checks a netlist. UserError for a circuit without ground, for loops of voltage sources (which), and for nodes without a
/// path of direct current to ground (which). Such a path leads through resistors, voltage sources, diodes or transistors.
/// `name` is the netlist's in messages.
void check_netlist(const Netlist& netlist, const std::string& name);

}  // namespace nudge
