// SPDX-License-Identifier: Apache-2.0
// How a netlist settles: against exponentials where it is linear, and against ngspice's transients.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "netlist/netlist_file.hpp"
#include "netlist/transient.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

NodalEquations equations_of(const std::string& text) {
  const auto no_files = [](const std::string&, const std::string&, std::string&) { return std::string(); };
  return NodalEquations(parse_netlist("t.cir", text, no_files));
}

std::size_t node(const NodalEquations& equations, const std::string& name) {
  const int found = find_node(equations.netlist(), name);
  REQUIRE(found >= 0);
  return static_cast<std::size_t>(found);
}

struct Settling {
  const char* text;
  double stop_s, capacitance_F;
};

/// A ladder; a bridge with a capacitor between two nodes; diodes; a transistor that drives a load; controlled sources; a source that no
/// end of is at ground.
const std::vector<Settling>& circuits() {
  static const std::vector<Settling> all = {
      {"ladder\nV1 a 0 1\nR1 a b 1k\nR2 b c 2k\nR3 c 0 3k\nR4 c d 1k\n", 6e-6, 100e-12},
      {"bridge\nV1 a 0 2\nR1 a x 1k\nR2 x 0 2k\nR3 a y 3k\nR4 y 0 1k\nC1 x y 1n\nI1 0 y 0.2m\n", 1e-5, 50e-12},
      {"diodes\nV1 a 0 1.5\nR1 a x 10k\nD1 x 0 dd\nR2 x y 5k\nD2 0 y dd\nR3 y z 5k\nV2 z 0 -1\n.model dd D(is=1n "
       "n=1.2)\n",
       1e-5, 100e-12},
      {"transistor\nVd d 0 2\nRd d o 50k\nM1 o g 0 0 nn W=2u L=1u\nVg a 0 1.2\nRg a g 10k\n"
       ".model nn NMOS(VTO=0.4 KP=80u LAMBDA=0.03)\n",
       1e-4, 100e-12},
      {"amplifier\nV1 a 0 0.1\nR1 a x 1k\nE1 e 0 x 0 5\nR2 e y 2k\nG1 0 w y 0 1m\nR3 w 0 3k\n", 4e-6, 100e-12},
      {"floating\nV1 a b 1\nR1 a 0 1k\nR2 b 0 2k\nR3 a c 5k\nC1 c 0 200p\n", 1e-5, 30e-12},
  };
  return all;
}

/// Of every node another.
std::vector<double> everywhere(const Settling& one) {
  std::vector<double> all;
  for (int i = 0; i < equations_of(one.text).nodes(); ++i) all.push_back(one.capacitance_F * (1 + 0.1 * i));
  return all;
}

}  // namespace

TEST_CASE("step response: a resistor charges a capacitor by an exponential", "[transient]") {
  const NodalEquations equations = equations_of("rc\nV1 a 0 2\nR1 a b 1k\nC1 b 0 1n\n");
  const StepResponse found = step_response(equations, {.stop_s = 1e-5});
  REQUIRE(found.status == Status::converged);
  const std::size_t b = node(equations, "b");
  for (std::size_t k = 0; k < found.time_s.size(); ++k) {
    // Some hundred steps of 1e-6 each.
    CHECK(std::abs(found.volts[k][b] - 2 * (1 - std::exp(-found.time_s[k] / 1e-6))) < 1e-4);
  }
  // The first step behind τ ln 1000, of which steps there are a tenth or less.
  CHECK(found.settled_s == Approx(1e-6 * std::log(1000)).epsilon(0.1));
  CHECK(found.settled_s >= 1e-6 * std::log(1000) * (1 - 1e-3));
}

TEST_CASE("step response: it ends at the operating point", "[transient]") {
  for (const Settling& one : circuits()) {
    CAPTURE(one.text);
    const StepResponse found =
        step_response(equations_of(one.text), {.stop_s = one.stop_s, .node_capacitance_F = everywhere(one)});
    CHECK(found.status == Status::converged);
    CHECK(found.settled_s < one.stop_s);
    for (std::size_t i = 0; i < found.end_V.size(); ++i) {
      CHECK(std::abs(found.volts.back()[i] - found.end_V[i]) < 1e-3 * (0.1 + std::abs(found.end_V[i])));
    }
  }
}

TEST_CASE("step response: the way there is ngspice's", "[transient][ngspice]") {
  if (!ngspice_installed()) return;
  const TemporaryDirectory folder;
  for (const Settling& one : circuits()) {
    CAPTURE(one.text);
    const NodalEquations equations = equations_of(one.text);
    const StepResponse found = step_response(equations, {.stop_s = one.stop_s, .node_capacitance_F = everywhere(one)});
    const auto& names = equations.netlist().nodes;
    std::string text = one.text, commands;
    for (std::size_t i = 0; i < names.size(); ++i)
      text += fmt::format("Cn{} {} 0 {:g}\n", i, names[i], everywhere(one)[i]);
    std::vector<std::size_t> steps;
    for (std::size_t k = found.time_s.size() / 8; k + 1 < found.time_s.size(); k += found.time_s.size() / 8) {
      if (found.time_s[k] < 1e-3 * one.stop_s) continue;
      for (std::size_t i = 0; i < names.size(); ++i) {
        commands += fmt::format("meas tran m{}_{} find v({}) at={:.12g}\n", k, i, names[i], found.time_s[k]);
      }
      steps.push_back(k);
    }
    REQUIRE(steps.size() >= 4);
    text += ".options reltol=1e-7 abstol=1e-15 vntol=1e-9\n.control\nset numdgt=12\n";
    text += fmt::format("tran {0:g} {1:g} 0 {0:g} uic\n", one.stop_s / 20000, one.stop_s);
    const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
    double largest = 0;
    for (const double v : found.end_V) largest = std::max(largest, std::abs(v));
    for (const std::size_t k : steps) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string name = fmt::format("m{}_{}", k, i);
        auto at = log.find(name);
        REQUIRE(at != std::string::npos);
        at = log.find('=', at) + 1;
        CAPTURE(names[i], found.time_s[k]);
        CHECK(std::abs(std::stod(log.substr(at)) - found.volts[k][i]) < 1e-3 * largest);
      }
    }
  }
}

TEST_CASE("step response: what cannot charge or start is said", "[transient]") {
  const NodalEquations bare = equations_of("r\nV1 a 0 1\nR1 a b 1k\nR2 b 0 1k\n");
  CHECK_THROWS_WITH(step_response(bare, {.stop_s = 1}), Catch::Contains("--capacitance"));
  CHECK_NOTHROW(step_response(bare, {.stop_s = 1, .node_capacitance_F = {1e-6, 1e-6}}));
  const NodalEquations hung = equations_of("c\nV1 a 0 1\nR1 a b 1k\nC1 b c 1n\nR2 c 0 1k\n");
  CHECK_THROWS_WITH(step_response(hung, {.stop_s = 1e-4}), Catch::Contains("no consistent start"));
  const StepResponse late = step_response(bare, {.stop_s = 1e-6, .node_capacitance_F = {1e-6, 1e-6}});
  CHECK(late.status == Status::max_steps);
}
