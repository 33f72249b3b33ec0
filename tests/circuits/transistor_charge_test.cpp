// SPDX-License-Identifier: Apache-2.0
// Charges of gates, junctions and bases at small signals and over time against ngspice; a base resistance against differences.
#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "netlist/ac_response.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/transient.hpp"
#include "tests/circuits/ngspice.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

Netlist charged_netlist(const std::string& text) {
  return parse_netlist("t.cir", text, [](const auto&, const auto&, auto&) { return std::string(); });
}

std::vector<double> point_of(const NodalEquations& equations, const std::vector<double>& values) {
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  REQUIRE(OperatingPointSolver(equations).solve(values, {}, x).status == Status::converged);
  return x;
}

constexpr double kFrequencies_Hz[] = {1e3, 1e6, 1e8, 1e10};

/// Compares the small signals of nodes with ngspice's, to `relative` of the larger of their amplitude and a millionth of the source's.
void compare_small_signals(const std::string& text, const std::vector<std::string>& nodes, double relative) {
  CAPTURE(text);
  const NodalEquations equations(charged_netlist(text));
  AcResponse response(equations, point_of(equations, equations.values()), {});
  std::string commands = ".options reltol=1e-9 abstol=1e-18 vntol=1e-15\n.control\nset numdgt=15\n";
  for (const double hertz : kFrequencies_Hz) {
    commands += fmt::format("ac lin 1 {0} {0}\n", hertz);
    for (const std::string& node : nodes) commands += fmt::format("print v({})\n", node);
  }
  const TemporaryDirectory folder;
  const std::string log = run_ngspice(folder.path(), text + commands + "quit 0\n.endc\n.end\n");
  std::size_t at = 0;
  for (const double hertz : kFrequencies_Hz) {
    std::vector<std::complex<double>> y;
    REQUIRE(response.at(hertz, y));
    for (const std::string& node : nodes) {
      const std::string name = fmt::format("v({}) = ", node);
      at = log.find(name, at);
      REQUIRE(at != std::string::npos);
      at += name.size();
      const std::complex<double> expected(std::stod(log.substr(at)), std::stod(log.substr(log.find(',', at) + 1)));
      const std::complex<double> found = y[static_cast<std::size_t>(find_node(equations.netlist(), node))];
      CAPTURE(node, hertz, found, expected);
      CHECK(std::abs(found - expected) < relative * std::max(std::abs(expected), 1e-6));
    }
  }
}

}  // namespace

TEST_CASE("transistor charges: small signals of gates are ngspice's in every region", "[netlist][charge][ngspice]") {
  if (!ngspice_installed()) return;
  struct Bias {
    double gate, drain, bulk;
  };
  // Saturated, in the triode region, just below threshold, far below, in accumulation, with a body, turned round, at the edge of 25 mV.
  for (const Bias& bias : {Bias{1.2, 2, 0}, Bias{2.5, 0.3, 0}, Bias{0.55, 1, 0}, Bias{0.3, 1, 0}, Bias{-0.5, 1, 0},
                           Bias{1.4, 2, -1}, Bias{2, -0.5, -1}, Bias{0.705, 0.015, 0}}) {
    // No junction conducts by its exponential: both solve the same equations to rounding, 1e-9 at the bulk's leak.
    compare_small_signals(
        fmt::format(
            "gate\nvg gi 0 dc {} ac 1\nrg gi g 10k\nvd di 0 {}\nrd di d 100\nvs si 0 0\nrs si s 50\nvb bi 0 {}\nrb bi "
            "b "
            "1k\nm1 d g s b n w=20u l=2u\n.model n nmos(level=1 vto=0.7 kp=100u gamma=0.5 phi=0.7 lambda=0.03 tox=10n "
            "cgso=0.2n cgdo=0.2n cgbo=0.1n)\n",
            bias.gate, bias.drain, bias.bulk),
        {"d", "g", "s"}, 1e-9);
  }
  compare_small_signals(
      "p by its process\nvg gi 0 dc -1.5 ac 1\nrg gi g 10k\nvd di 0 -2\nrd di d 1k\nm1 d g 0 0 p w=20u l=2u ad=40p "
      "pd=30u\n"
      ".model p pmos(level=1 vto=-0.7 uo=200 tox=12n nsub=3e16 ld=0.1u cj=3e-4 cjsw=3e-10 cgdo=0.3n cgso=0.3n)\n",
      {"d", "g"}, 2e-6);  // GAMMA has the charge of an electron, whose values differ by 1e-8, and ε of silicon
  compare_small_signals(
      "junction transistor\nvg gi 0 dc -0.5 ac 1\nrg gi g 100k\nvd di 0 5\nrd di d 1k\nrs s 0 100\nj1 d g s j\n"
      ".model j njf(vto=-2 beta=1m lambda=5m cgs=4p cgd=2p pb=0.8 rd=3 rs=2)\n",
      {"d", "g", "s"}, 1e-9);
}

TEST_CASE("transistor charges: small signals of bases are ngspice's", "[netlist][charge][ngspice]") {
  if (!ngspice_installed()) return;
  struct Bias {
    double base, collector;
  };
  for (const char* type : {"npn", "pnp"}) {
    const double sign = type[0] == 'n' ? 1 : -1;
    for (const Bias& bias : {Bias{1.2, 5}, Bias{2, 0.5}, Bias{1, -1}}) {
      // k/q of ngspice 39 is 3.4e-7 below ours, and currents change by V/(kT/q) of that, some 30.
      compare_small_signals(
          fmt::format(
              "base\nvb bi 0 dc {} ac 1\nrbb bi b 1k\nvc ci 0 {}\nrcc ci c 200\nre e 0 20\nq1 c b e q\n.model q "
              "{}(is=1e-15 bf=200 vaf=60 var=20 ikf=20m ikr=5m ise=1e-14 ne=1.6 rb=200 rc=5 re=1 cje=8p cjc=4p "
              "xcjc=0.6 tf=350p xtf=3 vtf=2 itf=30m tr=20n mjc=.4 vjc=.6)\n",
              sign * bias.base, sign * bias.collector, type),
          {"b", "c", "e"}, 1e-5);
    }
  }
}

TEST_CASE("transistor charges: a falling base resistance has the slope of its operating points", "[netlist][charge]") {
  // ngspice's small signals hold the resistance and are 1 % off here; at 1 mHz ours are the differences of operating points.
  for (const char* knee : {"", "irb=0.1m"}) {
    const NodalEquations equations(charged_netlist(fmt::format(
        "base\nvb bi 0 dc 1.2 ac 1\nrbb bi b 1k\nvc ci 0 5\nrcc ci c 200\nre e 0 20\nq1 c b e q\n.model q npn(is=1e-15 "
        "bf=200 vaf=60 ikf=20m rb=200 rbm=20 {} cje=8p tf=350p)\n",
        knee)));
    AcResponse response(equations, point_of(equations, equations.values()), {});
    std::vector<std::complex<double>> y;
    REQUIRE(response.at(1e-3, y));
    constexpr double kStep =
        1e-4;  // volts: h² over (25 mV)², 1e-5 of a curvature that the emitter's resistance makes small
    std::vector<double> up = equations.values(), down = up;
    up[0] += kStep;
    down[0] -= kStep;
    const std::vector<double> above = point_of(equations, up), below = point_of(equations, down);
    for (int i = 1; i < equations.nodes(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double slope = (above[k] - below[k]) / (2 * kStep);
      CAPTURE(equations.netlist().nodes[k], knee);
      CHECK(y[k].real() == Approx(slope).epsilon(1e-5).margin(1e-9));
    }
  }
}

TEST_CASE("transistor charges: a falling base resistance is a path to ground", "[netlist][charge]") {
  const NodalEquations equations(
      charged_netlist("t\nv1 c 0 5\ni1 0 b 10u\nq1 c b e q\nr1 e 0 1k\n.model q npn(bf=100 rb=200 rbm=20)\n"));
  const std::vector<double> x = point_of(equations, equations.values());
  // 101 times the current of the base through the emitter's resistor; gmin of 1e-12 S at 5 V beside 10 uA.
  CHECK(x[static_cast<std::size_t>(find_node(equations.netlist(), "e"))] == Approx(1.01).epsilon(1e-5));
}

TEST_CASE("transistor charges: a falling base resistance is the published law", "[netlist][charge]") {
  BipolarLaw law;
  law.forward = {1e-15};
  law.least_base_Ohm = 10;
  law.spread_Ohm = 190;
  law.base_knee_A = 1e-4;
  for (double vbe = 0.4; vbe < 0.9; vbe += 0.01) {
    const BipolarLaw::Point p = law.at(vbe, -1);
    const long double x = std::max(1e-9L, static_cast<long double>(p.base) / 1e-4L);
    const long double z = (sqrtl(1 + 14.59025L * x) - 1) / (2.4317L * sqrtl(x)), t = tanl(z);
    const auto expected = static_cast<double>(10 + 570 * (t - z) / (z * t * t));
    // The series differs by z⁶/100 below z = 0.05, 2e-10; the digits of t − z above, 1e-16/z².
    CHECK(p.base_Ohm == Approx(expected).epsilon(1e-9));
    const double h = 1e-6, slope = (law.at(vbe + h, -1).base_Ohm - law.at(vbe - h, -1).base_Ohm) / (2 * h);
    CHECK(p.base_Ohm_by_be == Approx(slope).epsilon(1e-5).margin(1e-5));  // margin: 1e-14 · 200 Ohm over h
  }
}

TEST_CASE("transistor charges: an inverter and a saturated switch follow ngspice", "[transient][charge][ngspice]") {
  if (!ngspice_installed()) return;
  struct One {
    const char* text;
    double stop_s;
    double within;  // of the supply
  };
  // ngspice takes the mean of a gate's capacitance at both ends of its trapezoidal steps.
  for (const One& one :
       {One{"inverter\nvdd vdd 0 1.8\nvin a 0 pulse(0 1.8 1n 0.2n 0.2n 4n 10n)\nr1 a g 2k\nm1 o g 0 0 n w=2u "
            "l=.18u\nm2 o g vdd vdd p "
            "w=5u l=.18u\nm3 q o 0 0 n w=4u l=.18u\nm4 q o vdd vdd p w=10u l=.18u\ncl q 0 20f\n.model n nmos(level=1 "
            "vto=0.5 kp=200u "
            "lambda=0.05 tox=5n cgso=0.2n cgdo=0.2n gamma=0.4 phi=.7)\n.model p pmos(level=1 vto=-0.5 kp=80u "
            "lambda=0.05 tox=5n "
            "cgso=0.2n cgdo=0.2n)\n",
            2e-8, 5e-3},
        One{"switch\nvcc vcc 0 5\nvin a 0 pulse(0 5 10n 1n 1n 200n 500n)\nr1 a b 10k\nrc vcc c 1k\nq1 c b 0 q\n.model "
            "q npn(is=1e-14 "
            "bf=300 vaf=100 ikf=0.4 br=4 cjc=4p cje=8p rb=20 rc=0.1 re=0.1 tr=250n tf=350p itf=1 vtf=2 xtf=3)\n",
            5e-7, 1e-3}}) {
    CAPTURE(one.text);
    const NodalEquations equations(charged_netlist(one.text));
    const StepResponse found = waveform_response(equations, {.stop_s = one.stop_s});
    REQUIRE(found.status == Status::converged);
    const std::string node = one.text[0] == 'i' ? "q" : "c";
    const auto i = static_cast<std::size_t>(find_node(equations.netlist(), node));
    std::string text =
        fmt::format("{}.options reltol=1e-5 abstol=1e-13 vntol=1e-8\n.control\nset numdgt=12\ntran {:g} {:g} 0 {:g}\n",
                    one.text, one.stop_s / 5000, one.stop_s, one.stop_s / 5000);
    std::vector<std::size_t> steps;
    for (std::size_t k = found.time_s.size() / 20; k + 1 < found.time_s.size(); k += found.time_s.size() / 20) {
      text += fmt::format("meas tran m{} find v({}) at={:.12g}\n", k, node, found.time_s[k]);
      steps.push_back(k);
    }
    REQUIRE(steps.size() >= 15);
    const TemporaryDirectory folder;
    const std::string log = run_ngspice(folder.path(), text + "quit 0\n.endc\n.end\n");
    double supply = 0;
    for (const auto& v : found.volts) supply = std::max(supply, v[0]);
    for (const std::size_t k : steps) {
      auto at = log.find(fmt::format("m{} ", k));
      REQUIRE(at != std::string::npos);
      at = log.find('=', at) + 1;
      CAPTURE(found.time_s[k], found.volts[k][i]);
      CHECK(std::abs(std::stod(log.substr(at)) - found.volts[k][i]) < one.within * supply);
    }
  }
}
