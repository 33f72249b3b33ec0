// SPDX-License-Identifier: Apache-2.0
// Inductors over time and small signals against closed forms and ngspice.
#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <sstream>

#include "netlist/ac_response.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/transient.hpp"
#include "sim/base/errors.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;
using Complex = std::complex<double>;

namespace {

Netlist netlist_of(const std::string& text) {
  return parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); });
}

std::vector<Complex> response(const NodalEquations& equations, double hertz) {
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(solver.solve(equations.values(), {}, x).status == Status::converged);
  std::vector<Complex> y;
  REQUIRE(AcResponse(equations, x, {}).at(hertz, y));
  return y;
}

Complex at_node(const NodalEquations& equations, const std::vector<Complex>& y, const std::string& name) {
  return y[static_cast<std::size_t>(find_node(equations.netlist(), name))];
}

}  // namespace

TEST_CASE("inductors: a series circuit rings as its equation says", "[transient][inductor]") {
  // L i' = 1 - R i - v, C v' = i from rest: v = 1 - exp(-at) (cos wt + a/w sin wt), a = R/2L, w² = 1/LC - a².
  const double r = 50, l = 100e-6, c = 1e-9, a = r / (2 * l), w = std::sqrt(1 / (l * c) - a * a);
  const NodalEquations equations(
      with_inductor_currents(netlist_of("t\nV1 a 0 1\nR1 a b 50\nL1 b c 100u\nC1 c 0 1n\n")));
  const StepResponse found = step_response(equations, {.stop_s = 2e-5});
  REQUIRE(found.time_s.size() > 100);
  const auto node = static_cast<std::size_t>(find_node(equations.netlist(), "c"));
  const auto [name, current] = inductor_nodes(equations.netlist()).front();
  CHECK(name == "l1");
  for (std::size_t k = 0; k < found.time_s.size(); ++k) {
    const double t = found.time_s[k], decay = std::exp(-a * t);
    // Some thousand steps of 1e-6 each of 2 V, and of the current over 1 mS, some 3 V.
    CHECK(std::abs(found.volts[k][node] - (1 - decay * (std::cos(w * t) + a / w * std::sin(w * t)))) < 1e-3);
    const double i = decay * std::sin(w * t) / (w * l);
    CHECK(std::abs(kGyrator_S * found.volts[k][static_cast<std::size_t>(current)] - i) < 3e-6);
  }
}

TEST_CASE("inductors: small signals of a series circuit and of a transformer", "[ac][inductor]") {
  const NodalEquations series(netlist_of("t\nV1 a 0 0 AC 2 30\nR1 a b 50\nL1 b c 100u\nC1 c 0 1n\n"));
  const Complex drive = std::polar(2.0, std::numbers::pi / 6);
  for (const double hertz : {1e3, 4e5, 503292.1, 3e6}) {
    const Complex s(0, 2 * std::numbers::pi * hertz);
    const std::vector<Complex> y = response(series, hertz);
    const Complex impedance = 50.0 + s * 100e-6 + 1.0 / (s * 1e-9), i = drive / impedance;
    CHECK(std::abs(at_node(series, y, "c") - i / (s * 1e-9)) < 1e-9 * std::abs(i / (s * 1e-9)));
    CHECK(std::abs(y[static_cast<std::size_t>(series.branch(2))] - i) < 1e-9 * std::abs(i));
  }
  // v1 = sL1 i1 + sM i2, v2 = sM i1 + sL2 i2 = -R2 i2.
  const NodalEquations pair(netlist_of("t\nI1 0 a 0 AC 1\nL1 a 0 1m\nL2 b 0 4m\nR2 b 0 300\nK1 L1 L2 0.8\n"));
  const double mutual = 0.8 * std::sqrt(1e-3 * 4e-3);
  for (const double hertz : {100.0, 1e4, 1e6}) {
    const Complex s(0, 2 * std::numbers::pi * hertz), i2 = -s * mutual / (300.0 + s * 4e-3);
    const std::vector<Complex> y = response(pair, hertz);
    CHECK(std::abs(at_node(pair, y, "a") - (s * 1e-3 + s * mutual * i2)) < 1e-9 * std::abs(s * 1e-3));
    CHECK(std::abs(at_node(pair, y, "b") + 300.0 * i2) < 1e-9 * std::abs(300.0 * i2));
  }
}

TEST_CASE("inductors: small signals are ngspice's, with junctions and transistors", "[ac][ngspice]") {
  if (!ngspice_installed()) return;
  const std::vector<const char*> all = {
      "amplifier\nVc c 0 9\nV1 in 0 0 AC 1\nC1 in b 1u\nRb1 c b 100k\nRb2 b 0 22k\nQ1 o b e nn\nRc c o 4.7k\nRe e 0 "
      "1k\nCe e 0 10u\nC2 o out 100n\nRl out 0 10k\nL1 out t 10u\nCt t 0 50p\n.model nn npn(is=1f bf=150 vaf=80 cje=8p "
      "cjc=4p "
      "vje=0.8 mje=0.35 rb=100 ikf=50m)\n",
      "tuned\nV1 a 0 -2 AC 1 45\nR1 a b 1k\nD1 b 0 dd\nL1 b c 10u\nL2 d 0 20u\nK1 L1 L2 0.7\nC1 d 0 30p\nR2 c 0 5k\nR3 "
      "d "
      "0 2k\nD2 0 d dd\n.model dd D(is=1f cjo=20p vj=0.7 m=0.4 tt=5n)\n",
      "mos\nVd d 0 3\nV1 g 0 1.2 AC 0.5\nM1 o g s b nn W=20u L=2u AD=200p AS=100p\nRd d o 20k\nRs s 0 2k\nVb b 0 "
      "-0.3\n.model nn "
      "NMOS(VTO=0.4 KP=80u LAMBDA=0.02 GAMMA=0.4 PHI=0.7 CGSO=1n CGDO=1n CGBO=2n CJ=2m MJ=0.4)\n"
      "E1 x 0 value={tanh(2*v(o)-5)}\nRx x 0 1k\n"};
  const TemporaryDirectory folder;
  for (const char* text : all) {
    CAPTURE(text);
    const NodalEquations equations(netlist_of(text));
    std::vector<std::string> names;
    for (const std::string& name : equations.netlist().nodes) {
      if (name.find('#') == std::string::npos) names.push_back(name);
    }
    const std::vector<double> sweep = sweep_frequencies("dec 1 1k 1g", "here");
    REQUIRE(sweep.size() == 7);
    std::string commands = "ac dec 1 1k 1g\n";
    for (const std::string& name : names) commands += fmt::format("wrdata {0}.txt v({0})\n", name);
    run_ngspice(folder.path(), std::string(text) +
                                   ".options reltol=1e-9 abstol=1e-18 vntol=1e-15\n.control\nset numdgt=12\n" +
                                   commands + "quit 0\n.endc\n.end\n");
    for (const std::string& name : names) {
      std::ifstream file(folder.path() / (name + ".txt"));
      for (const double hertz : sweep) {
        double f = 0, real = 0, imaginary = 0;
        REQUIRE((file >> f >> real >> imaginary));
        CHECK(f == Approx(hertz).epsilon(1e-9));
        const Complex expected(real, imaginary), found = at_node(equations, response(equations, hertz), name);
        CAPTURE(name, hertz, found, expected);
        // Slopes of exponentials at points whose currents differ by k/q, 3.4e-7 times some 30; a thousandth of a microvolt is nothing.
        CHECK(std::abs(found - expected) < 2e-5 * std::abs(expected) + 1e-9);
      }
    }
  }
}

TEST_CASE("inductors: sweeps that are none, and netlists written back", "[ac][inductor]") {
  for (const char* wrong :
       {"dec 10 1", "dec 10 0 1k", "log 10 1 1k", "dec 10 1k 1", "dec 1.5 1 10", "dec 10 1 1k x", "dec 1e9 1 1k"})
    CHECK_THROWS_AS(sweep_frequencies(wrong, "here"), UserError);
  CHECK(sweep_frequencies("lin 3 0 2k", "here") == std::vector<double>{0, 1000, 2000});
  const Netlist first = netlist_of(
      "t\nV1 a 0 1 AC 2 45\nR1 a b 50\nL1 b c 100u\nL2 c 0 2m\nK1 L1 L2 0.3\nC1 c 0 1n\nD1 c 0 dd\n.model dd d(cjo=3p "
      "tt=1n)\n"
      "M1 c a 0 b nn AD=1n PD=20u\n.model nn nmos(cj=1m cjsw=1n mjsw=0.3 cgso=1n)\nQ1 c a 0 qq\n.model qq pnp(cje=1p "
      "cjc=2p mjc=0.4)\n");
  const Netlist again = netlist_of(netlist_text(first, "note"));
  const NodalEquations one(first), other(again);
  for (const double hertz : {1e3, 1e6, 1e8}) {
    const std::vector<Complex> x = response(one, hertz), y = response(other, hertz);
    for (const char* node : {"b", "c"})  // operating points end 1e-9 apart
      CHECK(std::abs(at_node(one, x, node) - at_node(other, y, node)) < 1e-7 * std::abs(at_node(one, x, node)));
  }
}
