// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "circuits/netlist/memristor_devices.hpp"
#include "netlist/operating_point.hpp"
#include "tests/circuits/ngspice.hpp"

namespace nudge::test {

/// A netlist whose cards may name memristors, but no files.
inline Netlist drawn_devices(const std::string& text) {
  const auto no_files = [](const auto&, const auto&, auto&) { return std::string(); };
  return parse_netlist("t.cir", text, no_files, {}, device_memristors());
}

/// Voltages of its nodes.
inline std::vector<double> solved_volts(const Netlist& netlist) {
  const NodalEquations equations(netlist);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(OperatingPointSolver(equations).solve(equations.values(), {}, x).status == Status::converged);
  x.resize(netlist.nodes.size());
  return x;
}

/// Voltage of a node in ngspice.
inline double spice_volts(const std::string& text, const std::string& node) {
  const TemporaryDirectory folder;
  const std::string log =
      run_ngspice(folder.path(),
                  text.substr(0, text.rfind(".end")) +
                      fmt::format(".options reltol=1e-9 abstol=1e-18 vntol=1e-15\n.control\nset numdgt=15\nop\nprint "
                                  "v({})\nquit 0\n.endc\n.end\n",
                                  node));
  const auto at = log.find(fmt::format("v({}) = ", node));
  REQUIRE(at != std::string::npos);
  return std::stod(log.substr(at + 6 + node.size()));
}

}  // namespace nudge::test
