// SPDX-License-Identifier: Apache-2.0
// Operating points of the netlists of this folder, in ngspice and here.
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "circuits/netlist/netlist_reader.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// ngspice 39 has the constants of CODATA 2014: its k/q is 3.4e-7 below that of 2018, and voltages of junctions are kT/q times a logarithm.
/// ngspice iterates to 1e-9 of a voltage. Together below 1e-6; linear circuits agree to rounding.
constexpr double kRelative = 1e-6;
constexpr double kAbsolute_V = 1e-12;  // of nodes that rest at 0

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The same circuit with commands that print all node voltages.
std::string commanded(std::string text) {
  if (const auto end = text.find("\n.end\n"); end != std::string::npos) text.resize(end + 1);
  return text +
         ".options reltol=1e-9 abstol=1e-18 vntol=1e-15 itl1=1000\n.control\nset numdgt=15\nop\nprint all\nquit "
         "0\n.endc\n.end\n";
}

std::map<std::string, double> printed_voltages(const std::string& log) {
  static const std::regex line("(^|\n)(v\\()?([^ ()]+)\\)? = (\\S+)");
  std::map<std::string, double> volts;
  for (std::sregex_iterator at(log.begin(), log.end(), line), end; at != end; ++at) {
    const std::string name = (*at)[3];
    if (name.find("#branch") == std::string::npos) volts[name] = std::stod((*at)[4]);
  }
  return volts;
}

void compare(const std::filesystem::path& file, const std::filesystem::path& folder) {
  INFO(file.string());
  const NodalEquations equations(read_netlist(file));
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(equations.values(), {}, x);
  REQUIRE(found.status == Status::converged);
  double most = 0;
  for (const double value : x) most = std::max(most, std::abs(value));
  CHECK(found.residual_A <= 1e-12 * std::max(most, 1.0));  // rounding of sums of currents of some amperes
  const auto volts = printed_voltages(run_ngspice(folder, commanded(text_of(file))));
  const auto& nodes = equations.netlist().nodes;  // ngspice does not print those within diodes
  CHECK(static_cast<std::ptrdiff_t>(volts.size()) ==
        std::count_if(nodes.begin(), nodes.end(),
                      [](const std::string& node) { return node.find("#internal") == std::string::npos; }));
  for (const auto& [name, expected] : volts) {
    const int node = find_node(equations.netlist(), name);
    REQUIRE(node >= 0);
    INFO(name << ": " << x[static_cast<std::size_t>(node)] << " against " << expected);
    CHECK(std::abs(x[static_cast<std::size_t>(node)] - expected) <= kRelative * std::abs(expected) + kAbsolute_V);
  }
}

}  // namespace

TEST_CASE("netlist: operating points are ngspice's", "[netlist][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(NUDGE_SOURCE_DIR "/tests/circuits/netlists")) {
    if (entry.path().extension() == ".cir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= 30);
  for (const auto& file : files) compare(file, folder.path());
}
