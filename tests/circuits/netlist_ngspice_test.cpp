// SPDX-License-Identifier: Apache-2.0
// Operating points of the netlists of this folder, in ngspice and here; what is written is read as the same circuit; and the netlist of a
// deep resistive network is that network.
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>

#include "circuits/spice/exports.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "tests/circuits/ngspice.hpp"
#include "tests/circuits/resistive_networks.hpp"
#include "tests/support/resistive/shockley_solver.hpp"

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
  auto volts = printed_voltages(run_ngspice(folder, commanded(text_of(file))));
  std::erase_if(volts,
                [](const auto& one) { return one.first.find("_int") != std::string::npos; });  // of its expressions
  const auto& nodes = equations.netlist().nodes;  // ngspice does not print those within devices
  CHECK(static_cast<std::ptrdiff_t>(volts.size()) ==
        std::count_if(nodes.begin(), nodes.end(),
                      [](const std::string& node) { return node.find('#') == std::string::npos; }));
  for (const auto& [name, expected] : volts) {
    const int node = find_node(equations.netlist(), name);
    REQUIRE(node >= 0);
    INFO(name << ": " << x[static_cast<std::size_t>(node)] << " against " << expected);
    CHECK(std::abs(x[static_cast<std::size_t>(node)] - expected) <= kRelative * std::abs(expected) + kAbsolute_V);
  }
}

}  // namespace

namespace {

std::vector<std::filesystem::path> netlists() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(NUDGE_SOURCE_DIR "/tests/circuits/netlists")) {
    if (entry.path().extension() == ".cir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<double> solved(const NodalEquations& equations) {
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(solver.solve(equations.values(), {}, x).status == Status::converged);
  return x;
}

NodalEquations parsed(const std::string& text) {
  return NodalEquations(parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); }));
}

}  // namespace

TEST_CASE("netlist: operating points are ngspice's", "[netlist][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  REQUIRE(netlists().size() >= 30);
  for (const auto& file : netlists()) compare(file, folder.path());
}

TEST_CASE("netlist: what is written is read as the same circuit", "[netlist]") {
  for (const auto& file : netlists()) {
    INFO(file.string());
    const NodalEquations first(read_netlist(file));
    const NodalEquations again = parsed(netlist_text(first.netlist(), "again"));
    REQUIRE(again.netlist().nodes.size() == first.netlist().nodes.size());
    const std::vector<double> x = solved(first), y = solved(again);
    for (std::size_t i = 0; i < first.netlist().nodes.size(); ++i) {
      const int node = find_node(again.netlist(), first.netlist().nodes[i]);
      REQUIRE(node >= 0);
      // Both end with a step below 1e-9, the next would be of its square; values are written to the last bit.
      CHECK(std::abs(y[static_cast<std::size_t>(node)] - x[i]) <= 1e-9 * std::abs(x[i]) + 1e-12);
    }
  }
}

TEST_CASE("netlist: that of a deep resistive network has its state", "[netlist][resistive]") {
  const ShockleyDiode diode{1e-14, 1.2, 310};
  for (const ResistiveMake& make : {ResistiveMake{{6, 5, 4, 3}, {3.0, 2.0, 1.5}, ResistiveBias::rails, 1e-5, 0.7, 4},
                                    ResistiveMake{{6, 6, 4}, {1.0, 1.0}, ResistiveBias::current, 1e-5, 0.7, 3}}) {
    const ResistiveNetwork net = make_resistive(make);
    const Matrix<double> sources = make_sources(net, 1, 5);
    const Matrix<double> expected = ShockleySolver(net, diode).solve(sources);
    const NodalEquations equations = parsed(resistive_netlist(net, sources, {}, "unused", 1e12, diode));
    const std::vector<double> x = solved(equations);
    for (Index l = 1; l <= net.depth(); ++l) {
      for (Index j = 0; j < net.width(l); ++j) {
        const int node = find_node(equations.netlist(), "n" + std::to_string(l) + "_" + std::to_string(j));
        REQUIRE(node >= 0);
        // Reverse currents differ by I_s/20 (JunctionLaw): 5e-16 A on some 1e-6 S. Newton's last step: 1e-9.
        CHECK(std::abs(x[static_cast<std::size_t>(node)] - expected(0, net.columns(l).begin + j)) < 1e-8);
      }
    }
  }
}

TEST_CASE("netlist: operating points side by side are those of each alone", "[netlist][lane_lu]") {
  // Two packs, one of a single point. Steps end below 1e-9 of an unknown + 1e-12, and what is left after them is far smaller.
  for (const auto& file : netlists()) {
    INFO(file.string());
    const NodalEquations equations(read_netlist(file));
    OperatingPointSolver together(equations), alone(equations);
    const std::vector<double> shares = {1, 0.9, 0.5, 1.1, 0.2};
    const std::vector<OutputAction> none;
    std::vector<std::vector<double>> values(shares.size(), equations.values()),
        x(shares.size(), std::vector<double>(static_cast<std::size_t>(equations.unknowns()), 0.0));
    std::vector<OperatingPointSolver::Request> requests;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      for (std::size_t e = 0; e < values[k].size(); ++e) {
        const ElementKind kind = equations.netlist().elements[e].kind;
        if (kind == ElementKind::voltage || kind == ElementKind::current) values[k][e] *= shares[k];
      }
      requests.push_back({&values[k], &none, &x[k]});
    }
    together.solve(requests);
    for (std::size_t k = 0; k < shares.size(); ++k) {
      std::vector<double> own(x[k].size(), 0.0);
      REQUIRE(requests[k].found.status == alone.solve(values[k], none, own).status);
      for (std::size_t i = 0; i < own.size(); ++i) CHECK(std::abs(x[k][i] - own[i]) <= 1e-9 * std::abs(own[i]) + 1e-12);
    }
  }
}
